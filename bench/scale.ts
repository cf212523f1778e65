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

/** How many processes each fleet has. */
const SIZES = [1, 2, 4, 8];
/** As many rounds a second for each process, about 50, which together leaves the processor time to rest. */
const CONNECTIONS_EACH = 8;
const PAUSE_MS = 160;
/** Until code is compiled a round costs several times as much, and every process compiles its own: alone, since together it takes longer. */
const WARM_ROUNDS_EACH = 3_000;
const WARM_CONNECTIONS = 32;
/** Processes that have waited while another contestant was measured find their caches cold: what comes first is not counted. */
const RUN_IN_SECONDS = 0.3;
const CONTESTANTS = SERVERS.filter(({ name }) => name === SUBJECT || name === "floor");

/** Processes behind one proxy, measured as one: their CPU time is added up. */
interface Fleet {
  readonly size: number;
  readonly asOne: Contestant;
  readonly proxy: ProxyServer;
  readonly load: Load;
}

interface Grown {
  readonly name: string;
  /** For each size, run by run. */
  readonly fleets: readonly (readonly LoadResult[])[];
}

/**
 * CPU time of a round in fleets of more and more processes behind nginx, every round of a flow on any of them.
 *
 * Two processors cannot show how much more eight processes serve; that a round costs the same on each of them can be shown.
 * All fleets of a contestant are at work at the same time and each process has as many rounds to do, so that what they
 * share, a processor and its caches, is as it is for all of them: one after the other, the smallest fleet would have the
 * caches for itself.
 */
export async function scale(settings: Settings): Promise<Report> {
  const grown = await measure(settings);
  return {
    tables: [
      {
        title: "three-round flow behind nginx, each round on any process, all fleets at work together",
        columns: ["server", "processes", "rounds a second", "CPU us a round", "against one process"],
        rows: grown.flatMap(({ name, fleets }) =>
          fleets.map((samples, index) => [
            name,
            String(SIZES[index]),
            short(spread(samples.map(({ rate }) => rate)).median),
            short(spread(costs(samples)).median),
            showRatio(ratio(costs(samples), costs(fleets[0]))),
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
        lines: grown.map(({ name, fleets }) => ({
          name,
          points: fleets.map((samples, index) => [SIZES[index] ?? 0, spread(costs(samples)).median] as const),
        })),
      },
    ],
    checks: check(grown),
    data: { sizes: SIZES, grown },
  };
}

type CleanUp = (() => unknown)[];

async function measure(settings: Settings): Promise<readonly Grown[]> {
  const contestants = CONTESTANTS.filter(({ name }) => takesPart(settings, name));
  const cleanUp: CleanUp = [];
  try {
    const all: Fleet[][] = [];
    for (const contestant of contestants) all.push(await assemble(contestant, settings, cleanUp));
    settings.progress("scale: measuring");
    const samples = await alternate(all, settings.pairs, async (fleets) => {
      await runTogether(fleets, RUN_IN_SECONDS);
      return await runTogether(fleets, settings.seconds * 7);
    });
    return contestants.map(({ name }, index) => ({
      name,
      fleets: SIZES.map((_, size) => (samples[index] ?? []).map((together) => together[size] as LoadResult)),
    }));
  } finally {
    for (const undo of cleanUp.reverse()) await undo();
  }
}

/** Starts a fleet of every size, and warms their processes. */
async function assemble(contestant: ServerContestant, settings: Settings, cleanUp: CleanUp): Promise<Fleet[]> {
  settings.progress(`scale: ${contestant.name}, warming`);
  const folder = mkdtempSync(join(tmpdir(), "volley-scale-"));
  cleanUp.push(() => rmSync(folder, { recursive: true, force: true }));
  const key = generateKey();
  const rounds = WARM_ROUNDS_EACH * (settings.quick ? 0.2 : 1);
  const fleets: Fleet[] = [];
  // They share a key: what one process has sealed all can open.
  let shots: readonly Shot[] = [];
  for (const size of SIZES) {
    const sockets = Array.from({ length: size }, (_, index) => join(folder, `${size}-${index}.sock`));
    const processes: Contestant[] = [];
    for (const socket of sockets) {
      const process = await startContestant(contestant.program, { tools: 3, key, socket });
      cleanUp.push(() => process.stop());
      processes.push(process);
    }
    const proxy = await startProxy(sockets);
    cleanUp.push(proxy.close);
    if (shots.length === 0) shots = await FLOW3.prepare({ url: proxy.url, dialect: "2026-07-28" });
    for (const [index, socket] of sockets.entries()) await warm(processes[index] as Contestant, socket, shots, rounds);
    const load = createLoad(shots, PAUSE_MS);
    cleanUp.push(load.remove);
    const [first] = processes as [Contestant];
    const cpuMicros = (): number => processes.reduce((sum, process) => sum + process.cpuMicros(), 0);
    fleets.push({ size, asOne: { ...first, cpuMicros }, proxy, load });
  }
  return fleets;
}

async function warm(process: Contestant, socket: string, shots: readonly Shot[], requests: number): Promise<void> {
  const { url, close } = await startProxy([socket]);
  const load = createLoad(shots);
  await load.run(process, url, WARM_CONNECTIONS, { requests });
  load.remove();
  await close();
}

/** Chooses by lot: in turn, rounds would come to each of many processes as if by the clock, and never two of them together. */
function startProxy(sockets: readonly string[]): Promise<ProxyServer> {
  return startNginx(sockets, { keepAlive: WARM_CONNECTIONS * sockets.length, cpu: LOAD_CPU, choose: "random" });
}

function runTogether(fleets: readonly Fleet[], seconds: number): Promise<LoadResult[]> {
  return Promise.all(
    fleets.map(({ size, asOne, proxy, load }) => load.run(asOne, proxy.url, CONNECTIONS_EACH * size, { seconds })),
  );
}

function check(grown: readonly Grown[]): Check[] {
  const mine = grown.find(({ name }) => name === SUBJECT);
  if (mine === undefined) return [];
  return [atMost(`CPU time a round, ${SIZES.at(-1)} processes / 1`, 1.05, growth(mine.fleets.map(costs)))];
}

/** CPU time of a round in microseconds, run by run. */
function costs(samples: readonly LoadResult[] = []): readonly number[] {
  return samples.map(({ cpu }) => cpu);
}
