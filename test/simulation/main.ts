/**
 * `npm run simulate -- --schedules N --seed S`: schedules of a fleet in one realm, each of which its seed decides.
 *
 * `--only SEED` plays one schedule and shows it, `--shape NAME` plays handlers of one shape, `--planted NAME` plants a fault,
 * `--known` shows known faults too. Exits with 0 when nothing was violated.
 */
import { parseArgs } from "node:util";
import { KNOWN_AT_BASE } from "./known.ts";
import { hash } from "./luck.ts";
import { PLANTED } from "./planted/index.ts";
import { real } from "./real-time.ts";
import { playSchedule, type ScheduleOptions } from "./schedule.ts";
import { SHAPES } from "./shapes.ts";
import { describe, kindOf, shrink } from "./shrink.ts";

/** Of each kind of violation one schedule is shrunk and shown, and no more kinds than this. */
const MOST_SHOWN = 5;
const TELL_MS = 30_000;

const { values } = parseArgs({
  options: {
    schedules: { type: "string", default: "2000" },
    seed: { type: "string", default: "1" },
    only: { type: "string" },
    shape: { type: "string" },
    planted: { type: "string" },
    known: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});
const count = Number(values.schedules);
const seed = Number(values.seed);
const planted = PLANTED.find(({ name }) => name === values.planted);
const isWrong =
  !Number.isInteger(count) ||
  !Number.isInteger(seed) ||
  (values.planted !== undefined && planted === undefined) ||
  (values.shape !== undefined && !SHAPES.some(({ name }) => name === values.shape));
if (values.help || isWrong) {
  console.error(
    "Use: npm run simulate -- --schedules N --seed S [--only SEED] [--shape NAME] [--planted NAME] [--known]\n" +
      `shapes: ${SHAPES.map(({ name }) => name).join(", ")}\nplanted: ${PLANTED.map(({ name }) => name).join("; ")}`,
  );
  process.exit(2);
}
const options: ScheduleOptions = {
  known: values.known ? [] : KNOWN_AT_BASE,
  ...(values.shape === undefined ? {} : { shapes: [values.shape] }),
  ...(planted === undefined ? {} : { planted }),
};

if (values.only !== undefined) {
  const played = await playSchedule(Number(values.only), options);
  console.log(describe({ played, options }));
  process.exitCode = played.violations.length > 0 ? 1 : 0;
} else {
  const startedAt = real.now();
  const kinds = new Map<string, number>();
  const perShape = new Map<string, number>();
  let told = startedAt;
  let events = 0;
  let bad = 0;
  for (let index = 0; index < count; index++) {
    const played = await playSchedule(hash(seed, `schedule/${index}`), options);
    events += played.events;
    for (const shape of played.shapes) perShape.set(shape, (perShape.get(shape) ?? 0) + 1);
    if (played.violations.length > 0) bad += 1;
    for (const violation of played.violations) {
      const kind = kindOf(violation);
      const isNew = !kinds.has(kind);
      kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
      if (isNew && kinds.size <= MOST_SHOWN) console.log(`${describe(await shrink(played, options))}\n`);
    }
    if (real.now() - told > TELL_MS) {
      told = real.now();
      console.log(`${index + 1} of ${count} schedules, ${bad} with a violation`);
    }
  }
  const seconds = (real.now() - startedAt) / 1_000;
  for (const [shape, flows] of [...perShape].sort()) console.log(`${String(flows).padStart(8)}  ${shape}`);
  for (const [kind, times] of kinds) console.log(`${String(times).padStart(8)}  VIOLATED  ${kind.slice(0, 200)}`);
  const speed = (count / seconds).toFixed(0);
  console.log(
    `seed ${seed}: ${count} schedules, ${events} events, ${speed} schedules a second, ${bad} with a violation`,
  );
  process.exitCode = bad > 0 ? 1 : 0;
}
