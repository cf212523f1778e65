import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generateKey } from "../src/state/index.ts";
import { type ProxyServer, startNginx } from "../test/fleet/nginx.ts";
import { FLOW3 } from "./cases.ts";
import { createLoad, type Load, type LoadResult } from "./lib/load.ts";
import { type Contestant, startContestant } from "./lib/process.ts";
import { atMost, type Report, type Settings, short } from "./lib/report.ts";
import { alternate, spread } from "./lib/stats.ts";

const PROGRAM = "contestants/volley.ts";
const PROCESSES = [1, 2, 4, 8];
/** The load grows with the fleet, so that every process has as much to do as the only one. */
const CONNECTIONS_EACH = 32;
/** Until code is compiled a round costs several times as much, and every process compiles its own. */
const WARM_ROUNDS_EACH = 20_000;

/** Processes behind one round-robin proxy, measured as one: their CPU time is added up. */
interface Fleet {
  readonly size: number;
  readonly asOne: Contestant;
  readonly proxy: ProxyServer;
  readonly load: Load;
}

/**
 * CPU time of a round with more and more processes behind nginx, every round of a flow on another one.
 *
 * Two processors cannot show how much more eight processes serve; that a round costs the same on each of them can be shown.
 */
export async function scale(settings: Settings): Promise<Report> {
  const folder = mkdtempSync(join(tmpdir(), "volley-scale-"));
  const most = Math.max(...PROCESSES);
  const sockets = Array.from({ length: most }, (_, index) => join(folder, `${index}.sock`));
  const key = generateKey();
  const processes: Contestant[] = [];
  const fleets: Fleet[] = [];
  let samples: LoadResult[][];
  try {
    settings.progress(`scale: warming ${most} processes`);
    for (const socket of sockets) processes.push(await startContestant(PROGRAM, { tools: 3, key, socket }));
    for (const size of PROCESSES) fleets.push(await gather(processes.slice(0, size), sockets.slice(0, size)));
    const all = fleets.at(-1) as Fleet;
    await run(all, { requests: WARM_ROUNDS_EACH * most * (settings.quick ? 0.1 : 1) });
    settings.progress("scale: measuring");
    samples = await alternate(fleets, settings.pairs, (fleet) => run(fleet, { seconds: settings.seconds * 2 }));
  } finally {
    for (const { proxy, load } of fleets) {
      await proxy.close();
      load.remove();
    }
    for (const process of processes) await process.stop();
    rmSync(folder, { recursive: true, force: true });
  }
  const costs = samples.map((series) => spread(series.map(({ cpu }) => cpu)));
  const alone = costs[0]?.median ?? Number.NaN;
  return {
    tables: [
      {
        title: `three-round flow behind nginx, each round on another process, ${CONNECTIONS_EACH} connections a process`,
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

async function gather(processes: readonly Contestant[], sockets: readonly string[]): Promise<Fleet> {
  const proxy = await startNginx(sockets, CONNECTIONS_EACH * sockets.length);
  const [first] = processes as [Contestant];
  return {
    size: processes.length,
    asOne: { ...first, cpuMicros: () => processes.reduce((sum, process) => sum + process.cpuMicros(), 0) },
    proxy,
    load: createLoad(await FLOW3.prepare({ url: proxy.url, dialect: "2026-07-28" })),
  };
}

function run({ size, asOne, proxy, load }: Fleet, limit: Parameters<Load["run"]>[3]): Promise<LoadResult> {
  return load.run(asOne, proxy.url, CONNECTIONS_EACH * size, limit);
}
