import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generateKey } from "../src/state/index.ts";
import { startNginx } from "../test/fleet/nginx.ts";
import { FLOW3 } from "./cases.ts";
import { createLoad, type Load, type LoadResult } from "./lib/load.ts";
import { type Contestant, startContestant } from "./lib/process.ts";
import { atMost, type Report, type Settings, short } from "./lib/report.ts";
import { alternate, spread } from "./lib/stats.ts";

const PROGRAM = "contestants/volley.ts";
const PROCESSES = [1, 2, 4, 8];
const CONNECTIONS = 16;

/** Processes behind one round-robin proxy, measured as one: their CPU time is added up. */
interface Fleet {
  readonly size: number;
  readonly asOne: Contestant;
  readonly url: string;
  readonly load: Load;
  close(): Promise<void>;
}

/**
 * CPU time of a round with more and more processes behind nginx, every round of a flow on another one.
 *
 * Two processors cannot show how much more eight processes serve; that a round costs the same on each of them can be shown.
 */
export async function scale(settings: Settings): Promise<Report> {
  const fleets: Fleet[] = [];
  let samples: LoadResult[][];
  try {
    for (const size of PROCESSES) {
      settings.progress(`scale: ${size} processes`);
      fleets.push(await startFleet(size));
    }
    for (const { asOne, url, load } of fleets)
      await load.run(asOne, url, CONNECTIONS, { seconds: settings.seconds * 4 });
    samples = await alternate(fleets, settings.pairs, ({ asOne, url, load }) =>
      load.run(asOne, url, CONNECTIONS, { seconds: settings.seconds * 2 }),
    );
  } finally {
    for (const fleet of fleets) await fleet.close();
  }
  const costs = samples.map((series) => spread(series.map(({ cpu }) => cpu)));
  const alone = costs[0]?.median ?? Number.NaN;
  return {
    tables: [
      {
        title: "three-round flow behind nginx, each round on another process, 16 connections",
        columns: ["processes", "CPU us a round", "least", "most", "against one process"],
        rows: costs.map(({ median, min, max }, index) => [
          String(PROCESSES[index]),
          short(median),
          short(min),
          short(max),
          short(median / alone),
        ]),
      },
    ],
    charts: [
      {
        name: "scale",
        title: "CPU time a round, processes behind nginx",
        x: "processes",
        y: "us a round",
        lines: [{ name: "volley", points: costs.map(({ median }, index) => [PROCESSES[index] ?? 0, median]) }],
      },
    ],
    checks: [atMost("CPU time a round, 8 processes / 1", 1.05, (costs.at(-1)?.median ?? Number.NaN) / alone)],
    data: { processes: PROCESSES, samples },
  };
}

async function startFleet(size: number): Promise<Fleet> {
  const folder = mkdtempSync(join(tmpdir(), "volley-scale-"));
  const sockets = Array.from({ length: size }, (_, index) => join(folder, `${index}.sock`));
  const key = generateKey();
  const processes = await Promise.all(sockets.map((socket) => startContestant(PROGRAM, { tools: 3, key, socket })));
  const nginx = await startNginx(sockets);
  const first = processes[0] as Contestant;
  return {
    size,
    url: nginx.url,
    asOne: { ...first, cpuMicros: () => processes.reduce((sum, process) => sum + process.cpuMicros(), 0) },
    load: createLoad(await FLOW3.prepare({ url: nginx.url, dialect: "2026-07-28" })),
    async close() {
      await nginx.close();
      for (const process of processes) await process.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
