import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generateKey } from "../src/state/index.ts";
import { type ProxyServer, startNginx } from "../test/fleet/nginx.ts";
import { FLOW3 } from "./cases.ts";
import { SERVERS, type ServerContestant, SUBJECT } from "./contestants.ts";
import { createLoad, type Load, type LoadResult, type Shot } from "./lib/load.ts";
import { type Contestant, LOAD_CPU, startContestant } from "./lib/process.ts";
import { atMost, type Check, type Report, type Settings, short, showRatio, takesPart } from "./lib/report.ts";
import { alternate, growth, ratio, spread } from "./lib/stats.ts";

const PROCESSES = [1, 2, 4, 8];
const MOST = Math.max(...PROCESSES);
/** The load grows with the fleet, so that every process has as much to do as the only one. */
const CONNECTIONS_EACH = 32;
/** Until code is compiled a round costs several times as much, and every process compiles its own: alone, since together it takes longer. */
const WARM_ROUNDS_EACH = 20_000;
const CONTESTANTS = SERVERS.filter(({ name }) => name === SUBJECT || name === "floor");

/** Says which flow a request belongs to, for a proxy that keeps the rounds of one together. */
const FLOW_HEADER = "x-flow";

/** What is measured of a contestant: fleets of every size whose flows hop, and the largest once more with flows that stay. */
const SET_UPS: readonly { readonly size: number; readonly stickTo?: string }[] = [
  ...PROCESSES.map((size) => ({ size })),
  { size: MOST, stickTo: FLOW_HEADER },
];

/** Processes behind one proxy, measured as one: their CPU time is added up. */
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
  /** The same for the largest fleet when all rounds of a flow go to one process. */
  readonly stuck: readonly number[];
}

/**
 * CPU time of a round with more and more processes behind nginx, every round of a flow on another one.
 *
 * Two processors cannot show how much more eight processes serve; that a round costs the same on each of them can be shown.
 * They share one processor and its caches, which alone makes a round dearer: the floor shows by how much. What going on in another
 * process costs shows against the same fleet behind a proxy that keeps the rounds of a flow together.
 */
export async function scale(settings: Settings): Promise<Report> {
  const grown = await measure(settings);
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
      {
        title: `the same by ${MOST} processes, each round on another one or all of a flow on one`,
        columns: ["server", "CPU us a round, hopping", "staying", "hopping / staying"],
        rows: grown.map(({ name, costs, stuck }) => {
          const hopping = costs.at(-1) ?? [];
          return [name, short(spread(hopping).median), short(spread(stuck).median), showRatio(ratio(hopping, stuck))];
        }),
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

type CleanUp = (() => unknown)[];

async function measure(settings: Settings): Promise<readonly Grown[]> {
  const contestants = CONTESTANTS.filter(({ name }) => takesPart(settings, name));
  const cleanUp: CleanUp = [];
  try {
    const fleets: Fleet[][] = [];
    for (const contestant of contestants) fleets.push(await assemble(contestant, settings, cleanUp));
    settings.progress("scale: measuring");
    const samples = await alternate(fleets.flat(), settings.pairs, (fleet) =>
      run(fleet, { seconds: settings.seconds * 2 }),
    );
    const costs = samples.map((series) => series.map(({ cpu }) => cpu));
    return contestants.map(({ name }, index) => {
      const own = costs.slice(index * SET_UPS.length, (index + 1) * SET_UPS.length);
      return { name, costs: own.slice(0, -1), stuck: own.at(-1) ?? [] };
    });
  } finally {
    for (const undo of cleanUp.reverse()) await undo();
  }
}

/** Starts the processes of a contestant, warms them, and makes the fleets of them that are measured. */
async function assemble(contestant: ServerContestant, settings: Settings, cleanUp: CleanUp): Promise<Fleet[]> {
  const folder = mkdtempSync(join(tmpdir(), "volley-scale-"));
  cleanUp.push(() => rmSync(folder, { recursive: true, force: true }));
  const sockets = Array.from({ length: MOST }, (_, index) => join(folder, `${index}.sock`));
  const key = generateKey();
  const processes: Contestant[] = [];
  for (const socket of sockets) {
    const process = await startContestant(contestant.program, { tools: 3, key, socket });
    cleanUp.push(() => process.stop());
    processes.push(process);
  }
  settings.progress(`scale: ${contestant.name}, warming ${MOST} processes`);
  for (const index of processes.keys()) {
    const alone = await gatherFleet(processes.slice(index, index + 1), sockets.slice(index, index + 1));
    await run(alone, { requests: WARM_ROUNDS_EACH * (settings.quick ? 0.2 : 1) });
    await end(alone);
  }
  const fleets: Fleet[] = [];
  for (const { size, stickTo } of SET_UPS) {
    const fleet = await gatherFleet(processes.slice(0, size), sockets.slice(0, size), stickTo);
    cleanUp.push(() => end(fleet));
    fleets.push(fleet);
  }
  return fleets;
}

async function gatherFleet(
  processes: readonly Contestant[],
  sockets: readonly string[],
  stickTo?: string,
): Promise<Fleet> {
  const keepAlive = CONNECTIONS_EACH * sockets.length;
  const proxy = await startNginx(sockets, { keepAlive, cpu: LOAD_CPU, stickTo });
  const [first] = processes as [Contestant];
  return {
    size: processes.length,
    asOne: { ...first, cpuMicros: () => processes.reduce((sum, process) => sum + process.cpuMicros(), 0) },
    proxy,
    load: createLoad((await FLOW3.prepare({ url: proxy.url, dialect: "2026-07-28" })).map(ofFlow)),
  };
}

function ofFlow(shot: Shot): Shot {
  const { params } = JSON.parse(shot.body) as { readonly params: { readonly arguments: { readonly id: number } } };
  return { ...shot, headers: { ...shot.headers, [FLOW_HEADER]: String(params.arguments.id) } };
}

async function end({ proxy, load }: Fleet): Promise<void> {
  await proxy.close();
  load.remove();
}

function run({ size, asOne, proxy, load }: Fleet, limit: Parameters<Load["run"]>[3]): Promise<LoadResult> {
  return load.run(asOne, proxy.url, CONNECTIONS_EACH * size, limit);
}

function check(grown: readonly Grown[]): Check[] {
  const mine = grown.find(({ name }) => name === SUBJECT);
  const floor = grown.find(({ name }) => name === "floor");
  if (mine === undefined) return [];
  const figure = `CPU time a round, ${MOST} processes / 1`;
  const hopping = ratio(mine.costs.at(-1) ?? [], mine.stuck).median;
  return [
    atMost(figure, 1.05, growth(mine.costs)),
    ...(floor === undefined
      ? []
      : [atMost(`${figure}, beside the floor's`, 1.05, growth(mine.costs) / growth(floor.costs))]),
    atMost(`CPU time a round, ${MOST} processes, on another one each time / all on one`, 1.05, hopping),
  ];
}
