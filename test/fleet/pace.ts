// When flows begin, and when they have taken too long.

/** No flow takes so long, whatever befalls it. */
const FLOW_MS = 240_000;

export interface Pace {
  /** The number of the next flow, once it may begin. */
  begin(): Promise<number>;
  /** Resolves when so many flows have begun. */
  reached(flows: number): Promise<void>;
  /** No flow far beyond this number begins: what is to befall the flows does not come after them. */
  hold(beyond: number): void;
}

export function createPace(size: number): Pace {
  const ahead = Math.max(10, Math.round(size / 50));
  let begun = 0;
  let end = 0;
  let changed: (() => void)[] = [];
  const change = (): void => {
    const heard = changed;
    changed = [];
    for (const resolve of heard) resolve();
  };
  const until = async (reached: () => boolean): Promise<void> => {
    while (!reached()) await new Promise<void>((resolve) => void changed.push(resolve));
  };
  return {
    async begin() {
      await until(() => begun < end + ahead);
      change();
      return begun++;
    },
    reached: (flows) => until(() => begun >= flows),
    hold(beyond) {
      end = beyond;
      change();
    },
  };
}

/** Resolves with the flow, and after too long without it. */
export async function inTime(flow: Promise<void>, isLate: () => void): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(() => {
      isLate();
      resolve();
    }, FLOW_MS);
  });
  await Promise.race([flow, late]);
  clearTimeout(timer);
}
