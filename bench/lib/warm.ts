/** A contestant is warm once it has not become cheaper by a twentieth for two runs in a row: some need much longer than others. */
const QUIET_RUNS = 2;
const MOST_RUNS = 12;
const CHEAPER = 0.95;

/** How long one run should take. */
export const WARM_UP_SECONDS = 0.5;

/** Has a contestant run until its code is compiled; returns the last run. */
export async function warmUp<S extends { readonly cpu: number }>(run: () => Promise<S>): Promise<S> {
  let last = await run();
  let least = last.cpu;
  for (let runs = 1, quiet = 0; runs < MOST_RUNS && quiet < QUIET_RUNS; runs += 1) {
    last = await run();
    quiet = last.cpu < least * CHEAPER ? 0 : quiet + 1;
    least = Math.min(least, last.cpu);
  }
  return last;
}
