import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgres } from "../test/support/postgres.ts";
import { mayRun, type PrivateServer } from "../test/support/private-server.ts";
import { startRedis } from "../test/support/redis.ts";
import { call, expectThat, send } from "./cases.ts";
import type { OnceOptions } from "./contestants/volley-once.ts";
import { createLoad, type LoadResult } from "./lib/load.ts";
import { startContestant } from "./lib/process.ts";
import { atMost, type Check, type Report, type Settings, short, showRatio, takesPart } from "./lib/report.ts";
import { alternate, ratio, spread } from "./lib/stats.ts";

const STORES = ["memory", "sqlite", "redis", "postgres"] as const;
const TOOLS = ["plain", "once", "again"] as const;
const TITLES = { plain: "plain call", once: "once, the first time", again: "once, done before" };
const CONNECTIONS = 16;

interface Tool {
  readonly name: (typeof TOOLS)[number];
  readonly samples: readonly LoadResult[];
  readonly roundTrips: number;
}

interface Outcome {
  readonly store: OnceOptions["store"];
  readonly tools: readonly Tool[];
}

/** A call whose work is done in `once` against the same call without, on every store. */
export async function once(settings: Settings): Promise<Report> {
  const outcomes: Outcome[] = [];
  for (const store of STORES) {
    if (takesPart(settings, store) && hasPrograms(store)) outcomes.push(await measure(store, settings));
  }
  return {
    tables: [
      {
        title: "a call whose work is done in `once`",
        columns: [
          "store",
          "call",
          "plain / it, calls a second",
          "CPU us a call",
          "it / plain, CPU",
          "ledger round trips",
        ],
        rows: outcomes.flatMap(({ store, tools }) => {
          const plain = tools[0]?.samples ?? [];
          return tools.map(({ name, samples, roundTrips }) => [
            store,
            TITLES[name],
            name === "plain" ? "1" : showRatio(ratio(rates(plain), rates(samples))),
            short(spread(cpus(samples)).median),
            name === "plain" ? "1" : showRatio(ratio(cpus(samples), cpus(plain))),
            short(roundTrips),
          ]);
        }),
      },
    ],
    charts: [],
    checks: check(outcomes),
    data: outcomes,
  };
}

function hasPrograms(store: OnceOptions["store"]): boolean {
  if (store === "redis") return mayRun("redis-server");
  return store !== "postgres" || mayRun("initdb");
}

async function measure(store: OnceOptions["store"], settings: Settings): Promise<Outcome> {
  settings.progress(`once: ${store}`);
  const folder = mkdtempSync(join(tmpdir(), "volley-bench-"));
  const program: PrivateServer | undefined =
    store === "redis" ? await startRedis() : store === "postgres" ? await startPostgres() : undefined;
  const options: OnceOptions = { store, location: program?.url ?? join(folder, "ledger.db") };
  const process = await startContestant("contestants/volley-once.ts", options);
  const { port } = process.ready as { readonly port: number };
  const url = `http://127.0.0.1:${port}/mcp`;
  const loads = TOOLS.map((name) => createLoad([call("2026-07-28", name, {})]));
  const asked = async (): Promise<number> => Number(await answerOf(url, "asked"));
  try {
    const roundTrips: number[] = [];
    for (const name of TOOLS) {
      await answerOf(url, name);
      const before = await asked();
      for (let index = 0; index < 10; index += 1) {
        expectThat((await answerOf(url, name)) === "shipped", `${name} is answered`, name);
      }
      roundTrips.push(((await asked()) - before) / 10);
    }
    const run = (load: (typeof loads)[number]): Promise<LoadResult> =>
      load.run(process, url, CONNECTIONS, { seconds: settings.seconds });
    for (const load of loads) await run(load);
    const series = await alternate(loads, settings.pairs, run);
    return {
      store,
      tools: TOOLS.map((name, index) => ({
        name,
        samples: series[index] ?? [],
        roundTrips: roundTrips[index] ?? Number.NaN,
      })),
    };
  } finally {
    for (const load of loads) load.remove();
    await process.stop();
    await program?.remove();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function answerOf(url: string, tool: string): Promise<string | undefined> {
  return (await send(url, call("2026-07-28", tool, {}))).content?.[0]?.text;
}

function rates(samples: readonly LoadResult[]): readonly number[] {
  return samples.map(({ rate }) => rate);
}

function cpus(samples: readonly LoadResult[]): readonly number[] {
  return samples.map(({ cpu }) => cpu);
}

/** Two round trips are the least there can be: one before the effect, or two could do it; one after, or nobody would know. */
function check(outcomes: readonly Outcome[]): Check[] {
  const most = (name: Tool["name"]): number =>
    Math.max(
      ...outcomes.flatMap(({ tools }) => tools.filter((tool) => tool.name === name)).map((tool) => tool.roundTrips),
    );
  if (outcomes.length === 0) return [];
  return [
    atMost("ledger round trips of `once`, the first time", 2, most("once")),
    atMost("ledger round trips of `once`, done before", 1, most("again")),
  ];
}
