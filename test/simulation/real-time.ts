// The runtime's clock and timers, and what stands in for them while a world runs.
import type { Event, World } from "./world.ts";

const native = {
  setTimeout: globalThis.setTimeout,
  clearTimeout: globalThis.clearTimeout,
  setInterval: globalThis.setInterval,
  clearInterval: globalThis.clearInterval,
  setImmediate: globalThis.setImmediate,
  dateNow: Date.now,
  performanceNow: performance.now,
  random: Math.random,
};

export const real = {
  /** Every microtask has run. */
  turn: (): Promise<void> => new Promise((resolve) => void native.setImmediate(resolve)),
  now: (): number => native.performanceNow.call(performance),
};

/** What stands for a timer's handle. */
class Timer {
  event: Event | undefined;
  stopped = false;

  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }
  hasRef(): boolean {
    return true;
  }
  stop(): void {
    this.stopped = true;
    if (this.event !== undefined) this.event.cancelled = true;
  }
}

type Callback = (...args: unknown[]) => void;

/**
 * Replaces the timers and clocks of this realm by those of a world, for what runs in its events. The returned function puts
 * them back.
 */
export function inhabit(world: World): () => void {
  const start = (task: Callback, ms: number, args: readonly unknown[], again: boolean): Timer => {
    const owner = world.current;
    const timer = new Timer();
    const set = (): void => {
      // As Node has it: no timer is shorter than a millisecond.
      timer.event = world.after(Math.max(1, ms), owner, fire, "timer");
    };
    const fire = (): void => {
      if (again) set();
      task(...args);
    };
    set();
    return timer;
  };
  const stop = (handle: unknown, otherwise: (handle: never) => void): void => {
    if (handle instanceof Timer) handle.stop();
    else otherwise(handle as never);
  };
  const replace = {
    setTimeout: (task: Callback, ms = 0, ...args: unknown[]) =>
      world.running ? start(task, Number(ms), args, false) : native.setTimeout(task, ms, ...args),
    setInterval: (task: Callback, ms = 0, ...args: unknown[]) =>
      world.running ? start(task, Number(ms), args, true) : native.setInterval(task, ms, ...args),
    clearTimeout: (handle: unknown) => stop(handle, native.clearTimeout),
    clearInterval: (handle: unknown) => stop(handle, native.clearInterval),
    setImmediate: (task: Callback, ...args: unknown[]) => {
      if (!world.running) return native.setImmediate(task, ...args);
      // A turn: what has come by now may be heard before it or after it.
      return world.after(0.01, world.current, () => task(...args), "turn");
    },
  };
  Object.assign(globalThis, replace);
  Date.now = () => (world.running ? world.now(world.current) : native.dateNow());
  performance.now = () => (world.running ? world.time : native.performanceNow.call(performance));
  Math.random = () => (world.running ? world.luck.number(world.luck.next("random")) : native.random());
  return () => {
    const { setTimeout, setInterval, clearTimeout, clearInterval, setImmediate } = native;
    Object.assign(globalThis, { setTimeout, setInterval, clearTimeout, clearInterval, setImmediate });
    Date.now = native.dateNow;
    performance.now = native.performanceNow;
    Math.random = native.random;
  };
}
