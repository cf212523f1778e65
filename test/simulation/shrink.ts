// From a schedule that fails to the shortest one that still fails in the same way.
import { type Played, playSchedule, type ScheduleOptions } from "./schedule.ts";

export interface Shrunk {
  readonly played: Played;
  readonly options: ScheduleOptions;
}

/** So many tries a schedule is worth. */
const MOST_TRIES = 400;

export async function shrink(failed: Played, options: ScheduleOptions): Promise<Shrunk> {
  const wanted = new Set(failed.violations.map(kindOf));
  let tries = 0;
  let best: Shrunk = { played: failed, options };
  const attempt = async (change: Partial<ScheduleOptions>): Promise<boolean> => {
    if (++tries > MOST_TRIES) return false;
    const next = { ...best.options, ...change };
    const played = await playSchedule(failed.seed, next);
    const fails = played.violations.some((violation) => wanted.has(kindOf(violation)));
    if (fails) best = { played, options: next };
    return fails;
  };
  for (let index = 0; index < failed.shapes.length && failed.shapes.length > 1; index++)
    await attempt({ alone: index });
  await attempt({ even: true });
  for (let size = Math.ceil(best.played.mishaps.length / 2); size >= 1; size = size > 1 ? Math.ceil(size / 2) : 0) {
    for (let at = 0; at < best.played.mishaps.length; ) {
      const { without = [] } = best.options;
      const taken = best.played.mishaps.slice(at, at + size).map(({ id }) => id);
      if (!(await attempt({ without: [...without, ...taken] }))) at += size;
    }
  }
  return best;
}

/** A violation without its numbers. */
export function kindOf(violation: string): string {
  return violation.replace(/[0-9][0-9.]*/g, "#");
}

/** The schedule as a short list of events: what went wrong, and what was seen. */
export function describe({ played, options }: Shrunk): string {
  const { seed, violations, mishaps, lines, shapes } = played;
  const time = (at: number): string => `${(at / 1_000).toFixed(3)} s`.padStart(10);
  const { without = [], even, alone } = options;
  const events = [
    ...lines.map(({ at, who, what }) => ({ at, text: `${who.padEnd(8)} ${what}` })),
    ...mishaps.map(({ at, id }) => ({ at, text: `         (${id})` })),
  ].sort((one, other) => one.at - other.at);
  const again = JSON.stringify({ seed, ...(alone === undefined ? {} : { alone }), ...(even ? { even } : {}), without });
  return [
    `seed ${seed}, ${shapes.join(" and ")}: ${violations.join("; ")}`,
    ...events.map(({ at, text }) => `${time(at)}  ${text.slice(0, 240)}`),
    `  again: ${again}`,
  ].join("\n");
}
