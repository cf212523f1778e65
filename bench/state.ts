import type { CodecResult } from "./codecs/process.ts";
import { SUBJECT } from "./contestants.ts";
import { type Contestant, startContestant } from "./lib/process.ts";
import { type Check, type Report, type Settings, short, showRatio, type Table, takesPart } from "./lib/report.ts";
import { alternate, ratio, spread } from "./lib/stats.ts";

const CODECS = ["volley", "floor", "official", "jose"];
const SIZES = [300, 4 * 1024, 64 * 1024];
const MEASURE_MS = 200;

interface Outcome {
  readonly bytes: number;
  readonly codecs: Readonly<Record<string, readonly CodecResult[]>>;
}

/** Sealing a state and opening it again, by itself. */
export async function state(settings: Settings): Promise<Report> {
  const names = CODECS.filter((name) => takesPart(settings, name));
  const processes: Contestant[] = [];
  const outcomes: Outcome[] = [];
  try {
    for (const codec of names) processes.push(await startContestant("codecs/process.ts", { codec }));
    for (const bytes of settings.quick ? SIZES.slice(0, 1) : SIZES) {
      settings.progress(`state: ${bytes} bytes`);
      const measure = (contestant: Contestant): Promise<CodecResult> =>
        contestant.ask({ bytes, ms: MEASURE_MS }) as Promise<CodecResult>;
      for (const contestant of processes) await measure(contestant);
      const series = await alternate(processes, settings.pairs, measure);
      outcomes.push({ bytes, codecs: Object.fromEntries(names.map((name, index) => [name, series[index] ?? []])) });
    }
  } finally {
    for (const contestant of processes) await contestant.stop();
  }
  return { tables: outcomes.map(table), charts: [], checks: outcomes.slice(0, 1).flatMap(check), data: outcomes };
}

function table({ bytes, codecs }: Outcome): Table {
  const base = SUBJECT in codecs ? SUBJECT : (Object.keys(codecs)[0] ?? "");
  return {
    title: `seal and open, ${short(bytes / 1024)} KiB`,
    columns: ["codec", `${base} / it, round trips a second`, "CPU us a round trip", "sealed characters"],
    rows: Object.entries(codecs).map(([name, samples]) => [
      name,
      name === base ? "1" : showRatio(ratio(rates(codecs[base]), rates(samples))),
      short(spread(samples.map(({ cpu }) => cpu)).median),
      String(samples[0]?.sealedLength ?? "-"),
    ]),
  };
}

function rates(samples: readonly CodecResult[] = []): readonly number[] {
  return samples.map(({ rate }) => rate);
}

function check({ codecs }: Outcome): Check[] {
  if (codecs[SUBJECT] === undefined || codecs.official === undefined) return [];
  const { median } = ratio(rates(codecs[SUBJECT]), rates(codecs.official));
  const figure = "seal + open at 0.3 KiB, round trips a second / official mint + verify";
  return [{ figure, wanted: "more than 1", measured: short(median), reached: median > 1 }];
}
