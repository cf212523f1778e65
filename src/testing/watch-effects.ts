import { AsyncLocalStorage } from "node:async_hooks";
import { type Context, isInsideWork } from "../flow/index.ts";

/** The handler's own code runs in `"handler"`; what the context does for it runs in `"context"`. */
const where = new AsyncLocalStorage<"handler" | "context">();

/** Effects that a handler had outside its steps, each named once. */
export interface EffectWatch {
  readonly effects: ReadonlySet<string>;
  /** Runs a handler under watch. */
  run(handler: (ctx: Context) => unknown, ctx: Context): unknown;
  end(): void;
}

/**
 * Watches for what makes a replay differ: clock, randomness, network and timers used outside `step` and `once`.
 *
 * Globals are wrapped until `end`, so only one watch may run at a time.
 */
export function watchEffects(): EffectWatch {
  const effects = new Set<string>();
  const restores: (() => void)[] = [];
  const note = (name: string): void => {
    if (where.getStore() === "handler" && !isInsideWork()) effects.add(name);
  };
  const wrap = (owner: object, key: string, name: string): void => {
    const original = Reflect.get(owner, key) as (...args: unknown[]) => unknown;
    if (typeof original !== "function") return;
    const own = Object.getOwnPropertyDescriptor(owner, key);
    const wrapped = function (this: unknown, ...args: unknown[]): unknown {
      note(name);
      return new.target ? Reflect.construct(original, args, new.target) : Reflect.apply(original, this, args);
    };
    Object.setPrototypeOf(wrapped, original);
    wrapped.prototype = original.prototype;
    Object.defineProperty(owner, key, { value: wrapped, writable: true, configurable: true });
    restores.push(() => (own ? Object.defineProperty(owner, key, own) : Reflect.deleteProperty(owner, key)));
  };
  const NativeDate = Date;
  wrap(NativeDate, "now", "Date.now()");
  wrap(globalThis, "Date", "new Date()");
  wrap(Math, "random", "Math.random()");
  wrap(performance, "now", "performance.now()");
  wrap(crypto, "randomUUID", "crypto.randomUUID()");
  wrap(crypto, "getRandomValues", "crypto.getRandomValues()");
  for (const key of ["fetch", "setTimeout", "setInterval", "setImmediate"]) wrap(globalThis, key, `${key}()`);

  return {
    effects,
    run: (handler, ctx) => where.run("handler", () => handler(asContext(ctx))),
    end() {
      for (const restore of restores.reverse()) restore();
    },
  };
}

/** The context, whose own use of clock and timers is none of the handler's. */
function asContext(ctx: Context): Context {
  return new Proxy(ctx, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === "function" ? apart(value, target) : value;
    },
  });
}

function apart(call: object, owner: object): unknown {
  return new Proxy(call as (...args: unknown[]) => unknown, {
    apply: (target, _self, args) => where.run("context", () => Reflect.apply(target, owner, args)),
    get: (target, key) => {
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === "function" ? apart(value, target) : value;
    },
  });
}
