import { type Case, expectThat, FIRST, FLOW3, LIST, PLAIN, SECOND } from "./cases.ts";
import { type Running, SERVERS, SUBJECT, startServer } from "./contestants.ts";
import { createLoad, type Load, type LoadResult } from "./lib/load.ts";
import {
  atLeast,
  type Check,
  type Report,
  type Settings,
  short,
  showRatio,
  type Table,
  takesPart,
} from "./lib/report.ts";
import { alternate, ratio, spread } from "./lib/stats.ts";
import { WARM_UP_SECONDS, warmUp } from "./lib/warm.ts";

const CASES: readonly Case[] = [PLAIN, LIST, FIRST, SECOND, FLOW3];

/** Beside 16 connections, the extremes are run among fewer: they show whether the picture changes, not a new one. */
const EXTREMES = { connections: [1, 128], contestants: new Set(["volley", "floor", "official"]) };
const MAIN_CONNECTIONS = 16;

/** Ratios that are wanted at 16 connections: case, other contestant, at least. */
const WANTED: readonly (readonly [string, string, number])[] = [
  ["first", "floor", 0.8],
  ["first", "official", 6],
  ["first", "tmcp", 3.5],
  ["second", "floor", 0.8],
  ["second", "official", 8],
  ["second", "tmcp", 3.5],
  ["flow3", "official", 7],
  ["plain", "floor", 0.6],
  ["plain", "official", 8],
  ["plain", "mcp-lite", 2],
  ["list", "floor", 1.5],
  ["list", "official", 30],
];

interface Entrant {
  readonly running: Running;
  readonly load: Load;
  /** Size of a response before the first measured run. */
  readonly bytes: number;
}

interface Outcome {
  readonly case: string;
  readonly connections: number;
  readonly contestants: Readonly<Record<string, readonly LoadResult[]>>;
}

/** Requests a second and CPU time a request of whole servers, every answer checked. */
export async function server(settings: Settings): Promise<Report> {
  const outcomes: Outcome[] = [];
  for (const tools of new Set(CASES.map((kind) => kind.tools))) {
    const servers: Running[] = [];
    try {
      for (const contestant of SERVERS) {
        if (takesPart(settings, contestant.name)) servers.push(await startServer(contestant, { tools }));
      }
      for (const kind of CASES) {
        if (kind.tools === tools) outcomes.push(...(await runCase(kind, servers, settings)));
      }
    } finally {
      for (const { process } of servers) await process.stop();
    }
  }
  return {
    tables: [...outcomes.map((outcome) => table(outcome)), bounds(outcomes)],
    charts: [],
    checks: WANTED.flatMap(([kind, other, wanted]) => check(outcomes, kind, other, wanted)),
    data: outcomes,
  };
}

async function runCase(kind: Case, servers: readonly Running[], settings: Settings): Promise<Outcome[]> {
  settings.progress(`server: ${kind.name}`);
  const entrants: Entrant[] = [];
  try {
    for (const running of servers) {
      if (running.cases?.includes(kind.name) === false) continue;
      const load = createLoad(await kind.prepare(running));
      const { process, url } = running;
      const run = () => load.run(process, url, MAIN_CONNECTIONS, { seconds: WARM_UP_SECONDS });
      entrants.push({ running, load, bytes: (await warmUp(run)).responseBytes });
    }
    const outcomes = [await runConnections(kind, entrants, MAIN_CONNECTIONS, settings)];
    if (!settings.quick) {
      // A list of 50 tools takes the official SDK longer than a run among 128 connections.
      const slow = kind === LIST ? "official" : undefined;
      const fewer = entrants.filter(({ running: { name } }) => EXTREMES.contestants.has(name) && name !== slow);
      for (const connections of EXTREMES.connections) {
        outcomes.push(await runConnections(kind, fewer, connections, { ...settings, pairs: 3 }));
      }
    }
    for (const { running } of entrants) await kind.verify(running);
    return outcomes;
  } finally {
    for (const { load } of entrants) load.remove();
  }
}

async function runConnections(
  kind: Case,
  entrants: readonly Entrant[],
  connections: number,
  settings: Settings,
): Promise<Outcome> {
  const series = await alternate(entrants, settings.pairs, async ({ running, load, bytes }) => {
    const result = await load.run(running.process, running.url, connections, { seconds: settings.seconds });
    // Every response was a 200; another size would mean that some of them said something else. Few requests may not
    // have gone once round all the flows.
    const drift = Math.abs(result.responseBytes / bytes - 1);
    expectThat(
      drift < 0.02 + 30 / result.requests,
      `${running.name} goes on with responses of ${short(bytes)} bytes`,
      result,
    );
    return result;
  });
  return {
    case: kind.name,
    connections,
    contestants: Object.fromEntries(entrants.map(({ running }, index) => [running.name, series[index] ?? []])),
  };
}

function table({ case: name, connections, contestants }: Outcome): Table {
  const base = SUBJECT in contestants ? SUBJECT : (Object.keys(contestants)[0] ?? "");
  return {
    title: `${titleOf(name)}, ${connections} connection${connections === 1 ? "" : "s"}`,
    columns: ["contestant", `${base} / it, requests a second`, "CPU us a request", "response bytes"],
    rows: Object.entries(contestants).map(([contestant, samples]) => [
      contestant,
      contestant === base ? "1" : showRatio(ratio(rates(contestants[base]), rates(samples))),
      short(spread(samples.map(({ cpu }) => cpu)).median),
      short(samples[0]?.responseBytes ?? Number.NaN),
    ]),
  };
}

/** What the same figures would be for the floor: what is beyond that, no server on node:http can reach. */
function bounds(outcomes: readonly Outcome[]): Table {
  const rows = WANTED.flatMap(([kind, other, wanted]) => {
    const { contestants } = mainOutcome(outcomes, kind) ?? {};
    const floor = contestants?.floor;
    const theirs = contestants?.[other];
    if (floor === undefined || theirs === undefined || other === "floor") return [];
    return [[titleOf(kind), other, short(wanted), showRatio(ratio(rates(floor), rates(theirs)))]];
  });
  return { title: "the floor's own ratios", columns: ["case", "against", "wanted of us", "floor / it"], rows };
}

function mainOutcome(outcomes: readonly Outcome[], kind: string): Outcome | undefined {
  return outcomes.find((outcome) => outcome.case === kind && outcome.connections === MAIN_CONNECTIONS);
}

function titleOf(kind: string): string {
  return CASES.find(({ name }) => name === kind)?.title ?? kind;
}

function rates(samples: readonly LoadResult[] = []): readonly number[] {
  return samples.map(({ rate }) => rate);
}

function check(outcomes: readonly Outcome[], kind: string, other: string, wanted: number): Check[] {
  const found = mainOutcome(outcomes, kind);
  const mine = found?.contestants[SUBJECT];
  const theirs = found?.contestants[other];
  if (mine === undefined || theirs === undefined) return [];
  return [
    atLeast(`${titleOf(kind)}, requests a second / ${other}'s`, wanted, ratio(rates(mine), rates(theirs)).median),
  ];
}
