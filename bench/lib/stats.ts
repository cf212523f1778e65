/** One measurement of one contestant. */
export interface Sample {
  /** Units of work a second (requests, calls, seals). */
  readonly rate: number;
  /** CPU time of the contestant for one unit, in microseconds. */
  readonly cpu: number;
}

/** The middle one of several values, with the smallest and the largest. */
export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

export function spread(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  const median = sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
  return { median, min: sorted[0] ?? Number.NaN, max: sorted.at(-1) ?? Number.NaN };
}

/**
 * Compares two series measured in turn: the ratio is taken pair by pair, so that what slows the machine for a while
 * slows both sides of a pair.
 */
export function ratio(mine: readonly number[], theirs: readonly number[]): Spread {
  return spread(mine.map((value, index) => value / (theirs[index] ?? Number.NaN)));
}

/** Compares the last of several series measured in turn with the first. */
export function growth(series: readonly (readonly number[])[]): number {
  return ratio(series.at(-1) ?? [], series[0] ?? []).median;
}

/** Measures contestants in turn, A B A B, `pairs` times each; what comes back has their order. */
export async function alternate<C, S>(
  contestants: readonly C[],
  pairs: number,
  measure: (contestant: C) => Promise<S>,
): Promise<S[][]> {
  const series: S[][] = contestants.map(() => []);
  for (let pair = 0; pair < pairs; pair += 1) {
    for (const [index, contestant] of contestants.entries()) series[index]?.push(await measure(contestant));
  }
  return series;
}

/** The straight line through points by least squares. */
export function line(points: readonly (readonly [number, number])[]): { readonly slope: number; readonly at0: number } {
  const n = points.length;
  const meanX = points.reduce((sum, [x]) => sum + x, 0) / n;
  const meanY = points.reduce((sum, [, y]) => sum + y, 0) / n;
  let top = 0;
  let bottom = 0;
  for (const [x, y] of points) {
    top += (x - meanX) * (y - meanY);
    bottom += (x - meanX) ** 2;
  }
  const slope = top / bottom;
  return { slope, at0: meanY - slope * meanX };
}
