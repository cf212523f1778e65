/** Looks whether this process has not run for so long, now or a moment ago: it was stopped, or too busy to tell the time. */
export function watchForStops(ms: number): () => boolean {
  let tick = performance.now();
  let wokeAt = Number.NEGATIVE_INFINITY;
  const look = (): void => {
    const now = performance.now();
    if (now - tick > ms) wokeAt = now;
    tick = now;
  };
  setInterval(look, 50).unref();
  return () => performance.now() - tick > ms || performance.now() - wokeAt < 5 * ms;
}
