import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generateKey } from "../src/state/index.ts";
import { type ProxyServer, startNginx } from "../test/fleet/nginx.ts";
import { FLOW3 } from "./cases.ts";
import { SERVERS, type ServerContestant, SUBJECT } from "./contestants.ts";
import { createLoad, type Load, type LoadResult } from "./lib/load.ts";
import { type Contestant, LOAD_CPU, startContestant } from "./lib/process.ts";
import { atMost, type Check, type Report, type Settings, short, showRatio, takesPart } from "./lib/report.ts";
import { alternate, ratio, spread } from "./lib/stats.ts";

const PROCESSES = [1, 2, 4, 8];
const MOST = Math.max(...PROCESSES);
/** The load grows with the fleet, so that every process has as much to do as the only one. */
const CONNECTIONS_EACH = 32;
/** Until code is compiled a round costs several times as much, and every process compiles its own. */
const WARM_ROUNDS_EACH = 10_000;
const CONTESTANTS = SERVERS.filter(({ name }) => name === SUBJECT || name === "floor");

/** Processes behind one round-robin proxy, measured as one: their CPU time is added up. */
interface Fleet {
  readonly size: number;
  readonly asOne: Contestant;
  readonly proxy: ProxyServer;
  readonly load: Load;
}

interface Grown {
  readonly name: string;
  /** For each size, CPU time of a round in microseconds, run by run. */
  readonly costs: readonly (readonly number[])[];
}

/**
 * CPU time of a round with more and more processes behind nginx, every round of a flow on another one.
 *
 * Two processors cannot show how much more eight processes serve; that a round costs the same on each of them can be shown.
 * They share one processor and its caches, which alone makes a round dearer: the floor shows by how much.
 */
export async function scale(settings: Settings): Promise<Report> {
  const grown: Grown[] = [];
  for (const contestant of CONTESTANTS) {
    if (takesPart(settings, contestant.name)) grown.push(await grow(contestant, settings));
  }
  return {
    tables: [
      {
        title: `three-round flow behind nginx, each round on another process, ${CONNECTIONS_EACH} connections a process`,
        columns: ["server", "processes", "CPU us a round", "against one process"],
        rows: grown.flatMap(({ name, costs }) =>
          costs.map((cost, index) => [
            name,
            String(PROCESSES[index]),
            short(spread(cost).median),
            showRatio(ratio(cost, costs[0] ?? [])),
          ]),
        ),
      },
    ],
    charts: [
      {
        name: "scale",
        title: "CPU time a round, processes behind nginx",
        x: "processes",
        y: "us a round",
        lines: grown.map(({ name, costs }) => ({
          name,
          points: costs.map((cost, index) => [PROCESSES[index] ?? 0, spread(cost).median] as const),
        })),
      },
    ],
    checks: check(grown),
    data: { processes: PROCESSES, grown },
  };
}

async function grow({ name, program }: ServerContestant, settings: Settings): Promise<Grown> {
  const folder = mkdtempSync(join(tmpdir(), "volley-scale-"));
  const sockets = Array.from({ length: MOST }, (_, index) => join(folder, `${index}.sock`));
  const key = generateKey();
  const processes: Contestant[] = [];
  const fleets: Fleet[] = [];
  try {
    settings.progress(`scale: ${name}, warming ${MOST} processes`);
    for (const socket of sockets) processes.push(await startContestant(program, { tools: 3, key, socket }));
    for (const size of PROCESSES) fleets.push(await gather(processes.slice(0, size), sockets.slice(0, size)));
    const all = fleets.at(-1) as Fleet;
    await run(all, { requests: WARM_ROUNDS_EACH * MOST * (settings.quick ? 0.1 : 1) });
    settings.progress(`scale: ${name}`);
    const samples = await alternate(fleets, settings.pairs, (fleet) => run(fleet, { seconds: settings.seconds * 2 }));
    return { name, costs: samples.map((series) => series.map(({ cpu }) => cpu)) };
  } finally {
    for (const { proxy, load } of fleets) {
      await proxy.close();
      load.remove();
    }
    for (const process of processes) await process.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function gather(processes: readonly Contestant[], sockets: readonly string[]): Promise<Fleet> {
  const proxy = await startNginx(sockets, { keepAlive: CONNECTIONS_EACH * sockets.length, cpu: LOAD_CPU });
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

function check(grown: readonly Grown[]): Check[] {
  const growthOf = (wanted: string): number | undefined => {
    const costs = grown.find(({ name }) => name === wanted)?.costs;
    return costs && ratio(costs.at(-1) ?? [], costs[0] ?? []).median;
  };
  const mine = growthOf(SUBJECT);
  const floor = growthOf("floor");
  if (mine === undefined) return [];
  const figure = `CPU time a round, ${MOST} processes / 1`;
  if (floor === undefined) return [atMost(figure, 1.05, mine)];
  return [atMost(figure, 1.05, mine), atMost(`${figure}, beside the floor's`, 1.05, mine / floor)];
}
