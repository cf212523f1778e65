import type { FoundTask, TaskRecords } from "./records.ts";

/** How often watched tasks are read: changes of this process are seen at once, those of others by then. */
const LOOK_MS = 1_000;

/** Sees changes of tasks, whichever process makes them. */
export interface Watcher {
  /** Calls back with the task, now and after each change; the returned function ends that. */
  watch(id: string, seen: (found: FoundTask) => void): () => void;
  close(): void;
}

export function createWatcher(records: TaskRecords): Watcher {
  const watched = new Map<string, Set<(found: FoundTask) => void>>();
  let timer: ReturnType<typeof setInterval> | undefined;
  let unlisten: (() => void) | undefined;

  const tell = (found: FoundTask): void => {
    for (const seen of [...(watched.get(found.record.id) ?? [])]) seen(found);
  };
  const look = (id: string): void => {
    // A store that does not answer now is asked again.
    records.read(id).then(
      (found) => found && tell(found),
      () => undefined,
    );
  };
  const stop = (): void => {
    clearInterval(timer);
    unlisten?.();
    timer = undefined;
    unlisten = undefined;
  };

  return {
    watch(id, seen) {
      const all = watched.get(id) ?? new Set();
      watched.set(id, all.add(seen));
      timer ??= setInterval(() => {
        for (const each of watched.keys()) look(each);
      }, LOOK_MS);
      unlisten ??= records.listen(tell);
      look(id);
      return () => {
        all.delete(seen);
        if (all.size === 0 && watched.get(id) === all) watched.delete(id);
        if (watched.size === 0) stop();
      };
    },
    close() {
      watched.clear();
      stop();
    },
  };
}
