// How a run waits for its handler to come to rest.

const { process: host, navigator: agent } = globalThis as {
  readonly process?: { readonly nextTick?: (task: () => void) => void; readonly versions?: { readonly bun?: string } };
  readonly navigator?: { readonly userAgent?: string };
};

/** Runs a task in a later turn of the event loop. */
export const nextTurn: (task: () => void) => void =
  typeof setImmediate === "function" ? (task) => void setImmediate(task) : (task) => void setTimeout(task, 0);

/**
 * Runs a task once all microtasks have run: those that are queued, and those that they queue, however many.
 *
 * A tick that is asked for in a microtask comes when no microtask is left, on Node and Deno. Bun and workerd do not
 * promise that: a turn of the event loop is later than it need be, but never too early.
 */
export const afterMicrotasks: (task: () => void) => void = (() => {
  const tick = host?.nextTick;
  const inOrder = host?.versions?.bun === undefined && agent?.userAgent !== "Cloudflare-Workers";
  if (tick === undefined || !inOrder) return nextTurn;
  return (task) => queueMicrotask(() => tick(task));
})();

/** Runs a task after some time of the platform's own, in which raw I/O goes on whatever the flow's clock says. */
export function waitIdle(ms: number, task: () => void): () => void {
  const timer = setTimeout(task, ms);
  return () => clearTimeout(timer);
}
