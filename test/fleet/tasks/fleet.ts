// One run of tasks: an engine, servers behind nginx and workers, the tasks and what befalls them; then what was told
// against what was done.
import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { debuglog } from "node:util";
import { generateKey } from "../../../src/state.ts";
import type { StoreKind } from "../../ledger/stores.ts";
import { startNginx } from "../nginx.ts";
import { createPace, inTime, type Pace } from "../pace.ts";
import { type Stoppable, type Supervised, supervise } from "../processes.ts";
import type { Program } from "../program.ts";
import { LEASE_MS } from "../server-task.ts";
import { startStore } from "../store.ts";
import { openTruth } from "../truth.ts";
import { noTaskCounts, type TaskCounts } from "./counts.ts";
import { judge } from "./judge.ts";
import { openTaskPlace, type Told } from "./place.ts";
import { indexOf } from "./scene.ts";
import { SERVERS, type TaskFleetEvent, type TaskSchedule, WORKERS } from "./schedule.ts";
import { openStepLog } from "./step-log.ts";
import type { TaskProcess } from "./task-process.ts";

const LEAST_PLACES = 12;
const MOST_PLACES = 48;
/** Longer than a lease. */
const STOPPED_MS = LEASE_MS + 500;
/** How long another worker may take, on a busy machine, to begin what a stopped one was at. */
const TAKE_OVER_MS = 15_000;
/** Before anything else befalls it, a worker that goes on is to find out what it has lost: it asks three times a lease. */
const NOTICED_MS = LEASE_MS / 2;
/** `NODE_DEBUG=fleet` tells what happens. */
const log = debuglog("fleet");

export async function runTaskFleet(
  program: Program,
  kind: StoreKind,
  { plans, events }: TaskSchedule,
): Promise<TaskCounts> {
  const counts = noTaskCounts();
  const folder = mkdtempSync(join(tmpdir(), "volley-tasks-"));
  const file = (name: string): string => join(folder, name);
  const truth = openTruth(file("truth.db"));
  const steps = openStepLog(file("steps.db"));
  const store = await startStore(kind, folder);
  // One file is for one process; the others have servers and workers of their own.
  const sockets = Array.from({ length: kind === "sqlite" ? 1 : SERVERS }, (_, index) => file(`${index}.sock`));
  const nginx = await startNginx(sockets);
  const settings = {
    kind,
    tasks: kind === "sqlite" ? file("tasks.db") : store.location,
    ledger: store.location,
    truth: file("truth.db"),
    log: file("steps.db"),
    keys: [generateKey()],
  };
  const roles: Pick<TaskProcess, "socket" | "works">[] = [
    ...sockets.map((socket) => ({ socket, works: kind === "sqlite" })),
    ...Array.from({ length: kind === "sqlite" ? 0 : WORKERS }, () => ({ socket: undefined, works: true })),
  ];
  counts.workers = roles.filter(({ works }) => works).length;
  // Nobody takes over what was cancelled.
  const isAt = (pid: number): boolean => steps.openOf(pid).some((order) => plans[indexOf(order)]?.cancel === undefined);
  let over = false;
  const queue = createQueue();
  const watch = {
    died: (signal: NodeJS.Signals | null) => void (signal === "SIGKILL" && counts.kills++),
    stop: ({ pid, stop, goOn }: Stoppable) =>
      queue.first(async () => {
        counts.stops += 1;
        log("%d stops", pid);
        stop();
        await sleep(STOPPED_MS);
        // Where there is another worker, until it has begun what this one was at.
        const giveUpAt = performance.now() + TAKE_OVER_MS;
        while (!over && counts.workers > 1 && isAt(pid) && performance.now() < giveUpAt) await sleep(100);
        log("%d goes on", pid);
        goOn();
        if (!over) await sleep(NOTICED_MS);
      }),
  };
  const processes = await Promise.all(
    roles.map((role) => supervise<TaskProcess>(program, { ...settings, ...role }, watch)),
  );
  const told: Told[] = [];
  const size = Math.max(LEAST_PLACES, Math.min(MOST_PLACES, Math.ceil(plans.length / 20)));
  const places = await Promise.all(
    Array.from({ length: size }, (_, index) => openTaskPlace(nginx.url, told, counts, index)),
  );
  try {
    const pace = createPace(plans.length);
    const suffered = suffer(events, processes, pace, queue);
    const played = places.map(async (place) => {
      for (let index = await pace.begin(); index < plans.length; index = await pace.begin()) {
        const plan = plans[index];
        if (plan === undefined) break;
        await inTime(place.play(plan), () => {
          counts.notEnded += 1;
          counts.unclear.push(`${JSON.stringify(plan)} did not end`);
        });
        log("task %d is over", index);
      }
    });
    await Promise.all([suffered, ...played]);
    counts.tasks = plans.length;
    await Promise.all(places.map((place) => place.lookAgain()));
  } finally {
    over = true;
    await Promise.all([...places, ...processes].map((part) => part.close()));
    await nginx.close();
    await store.remove();
  }
  judge(told, truth, steps, counts);
  truth.close();
  steps.close();
  await rm(folder, { recursive: true, force: true });
  return counts;
}

/** Lets everything happen in its order, each when its time has come and the one before is over. */
async function suffer(
  events: readonly TaskFleetEvent[],
  processes: readonly Supervised<TaskProcess>[],
  pace: Pace,
  queue: Queue,
): Promise<void> {
  for (const event of events) {
    pace.hold(event.at);
    await pace.reached(event.at);
    log("%j", event);
    const process = processes[event.process % processes.length];
    if (event.type === "stop") await process?.stop();
    else await queue.last(async () => await (event.type === "kill" ? process?.kill() : process?.restart({})));
  }
  pace.hold(Number.POSITIVE_INFINITY);
}

/** Lets one thing happen at a time. */
interface Queue {
  /** Before all that waits. */
  first(happen: Happen): Promise<void>;
  last(happen: Happen): Promise<void>;
}
type Happen = () => Promise<void>;

/** Workers that are stopped together take nothing over, and one that is killed before its stop does not wake from it. */
function createQueue(): Queue {
  const waiting: Happen[] = [];
  let busy = false;
  const goThrough = async (): Promise<void> => {
    if (busy) return;
    busy = true;
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await next();
    busy = false;
  };
  const put = (how: "push" | "unshift", happen: Happen): Promise<void> =>
    new Promise((resolve, reject) => {
      waiting[how](() => happen().then(resolve, reject));
      void goThrough();
    });
  return { first: (happen) => put("unshift", happen), last: (happen) => put("push", happen) };
}
