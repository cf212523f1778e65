import { answer, call, expectThat, FIRST, SECOND, send } from "./cases.ts";
import { type Running, startServer } from "./contestants.ts";
import { createLoad, type Load, type LoadResult, type Shot } from "./lib/load.ts";
import { atMost, type Chart, type Check, type Report, type Settings, short, type Table } from "./lib/report.ts";
import { alternate, growth, line } from "./lib/stats.ts";

const PROGRAM = { name: "volley", program: "contestants/volley-grow.ts", dialect: "2026-07-28" } as const;
const CONNECTIONS = 16;
/** Different flows behind each point. */
const FLOWS = 32;
const ROUNDS = [1, 2, 8, 16, 32];
const JOURNAL_KIB = [0, 4, 16, 32];
const TOOLS = [1, 5_000];
const WAITING = [1, 10_000];
/** Processes behind each point that has its own: one can be a tenth dearer than the next by how its code lies in the caches. */
const REPLICAS = 3;
/** Requests that each of them has answered before it is measured, whatever it holds by then: the last ones to be compiled would be dearer. */
const WARM_UP = 20_000;

interface Point {
  readonly x: number;
  readonly running: Running;
  readonly load: Load;
  readonly stateBytes: number;
}

interface Measured {
  readonly x: number;
  readonly stateBytes: number;
  /** CPU time a request over all runs, in microseconds. */
  readonly cpu: number;
  readonly samples: readonly LoadResult[];
}

interface Series {
  readonly name: string;
  readonly title: string;
  readonly x: string;
  readonly points: readonly Measured[];
}

/** What a round costs against what there is more of: rounds before it, journal, tools, rounds of others. */
export async function grow(settings: Settings): Promise<Report> {
  const series = [
    await onOneServer("rounds", "Cost of round n", "rounds", ROUNDS, roundsOf, settings),
    await onOneServer(
      "journal",
      "Second leg against the size of a step's value",
      "KiB",
      JOURNAL_KIB,
      journalOf,
      settings,
    ),
    await onOwnServers(
      "tools",
      "Both legs against registered tools",
      TOOLS,
      (tools) => ({ tools, waiting: 0 }),
      settings,
    ),
    await onOwnServers(
      "waiting",
      "Both legs against rounds that wait",
      WAITING,
      (waiting) => ({ tools: 3, waiting }),
      settings,
    ),
  ];
  return { tables: series.map(table), charts: series.map(chart), checks: check(series), data: series };
}

/** The shots of round n of a flow that goes on after it. */
async function roundsOf(url: string, x: number): Promise<readonly Shot[]> {
  const args = { asks: 32 };
  const shots: Shot[] = [];
  for (let flow = 0; flow < FLOWS; flow += 1) {
    let shot = call("2026-07-28", "ask_often", args);
    for (let round = 1; round < x; round += 1) shot = answer("2026-07-28", "ask_often", args, await send(url, shot));
    shots.push(shot);
  }
  const last = await send(url, shots[0] as Shot);
  expectThat(Object.keys(last.inputRequests ?? {}).join() === `question-${x}`, `round ${x} asks question ${x}`, last);
  return shots;
}

async function journalOf(url: string, kib: number): Promise<readonly Shot[]> {
  const args = { bytes: kib * 1024 };
  const shots: Shot[] = [];
  for (let flow = 0; flow < FLOWS; flow += 1) {
    const asked = await send(url, call("2026-07-28", "remember", args));
    shots.push(answer("2026-07-28", "remember", args, asked));
  }
  const last = await send(url, shots[0] as Shot);
  expectThat(last.content?.[0]?.text === `${args.bytes} bytes`, `the step's value is back`, last);
  return shots;
}

/** Points that differ by what is sent: one process serves them in turn. */
async function onOneServer(
  name: string,
  title: string,
  x: string,
  xs: readonly number[],
  shotsOf: (url: string, x: number) => Promise<readonly Shot[]>,
  settings: Settings,
): Promise<Series> {
  settings.progress(`grow: ${name}`);
  const running = await startServer(PROGRAM, { tools: 0 });
  const points: Point[] = [];
  try {
    for (const x of xs) points.push(point(x, running, await shotsOf(running.url, x)));
    for (const each of points) await run(each, { seconds: settings.seconds });
    return { name, title, x, points: await measure(points, settings.seconds, settings.pairs) };
  } finally {
    await end(points, [running]);
  }
}

/** Points that differ by what the server holds: processes for each. */
async function onOwnServers(
  name: string,
  title: string,
  xs: readonly number[],
  setUp: (x: number) => { readonly tools: number; readonly waiting: number },
  settings: Settings,
): Promise<Series> {
  const points: Point[] = [];
  const servers: Running[] = [];
  try {
    settings.progress(`grow: ${name}`);
    for (const x of Array.from({ length: REPLICAS }, () => xs).flat()) {
      const { tools, waiting } = setUp(x);
      const running = await startServer(PROGRAM, { tools });
      servers.push(running);
      const first = await FIRST.prepare(running);
      if (waiting > 0) await leaveWaiting(running, first, waiting);
      const both = point(x, running, [...first, ...(await SECOND.prepare(running))]);
      points.push(both);
      await run(both, { requests: WARM_UP - waiting });
    }
    return { name, title, x: name, points: await measure(points, settings.seconds, settings.pairs) };
  } finally {
    await end(points, servers);
  }
}

async function leaveWaiting(running: Running, first: readonly Shot[], count: number): Promise<void> {
  const load = createLoad(first);
  await load.run(running.process, running.url, Math.min(CONNECTIONS, count), { requests: count });
  load.remove();
}

function point(x: number, running: Running, shots: readonly Shot[]): Point {
  const sizes = shots.map(({ body }) => (JSON.parse(body) as Call).params.requestState?.length ?? 0);
  return { x, running, load: createLoad(shots), stateBytes: Math.max(...sizes) };
}

interface Call {
  readonly params: { readonly requestState?: string };
}

function run({ running, load }: Point, limit: Parameters<Load["run"]>[3]): Promise<LoadResult> {
  return load.run(running.process, running.url, CONNECTIONS, limit);
}

async function measure(points: readonly Point[], seconds: number, pairs: number): Promise<readonly Measured[]> {
  const series = await alternate(points, pairs, (each) => run(each, { seconds }));
  return [...new Set(points.map(({ x }) => x))].map((x) => {
    const samples = series.filter((_, index) => points[index]?.x === x).flat();
    const stateBytes = Math.max(...points.filter((each) => each.x === x).map((each) => each.stateBytes));
    const requests = samples.reduce((sum, sample) => sum + sample.requests, 0);
    const cpu = samples.reduce((sum, sample) => sum + sample.cpu * sample.requests, 0) / requests;
    return { x, stateBytes, cpu, samples };
  });
}

async function end(points: readonly Point[], servers: readonly Running[]): Promise<void> {
  for (const { load } of points) load.remove();
  for (const { process } of servers) await process.stop();
}

function table({ title, x, points }: Series): Table {
  const { slope } = line(points.map((point) => [point.x, point.cpu]));
  return {
    title: `${title}: ${slope.toPrecision(2)} us CPU for each one more (${x})`,
    columns: [x, "state, bytes", "CPU us a request", "to the first"],
    rows: points.map(({ x: value, stateBytes, cpu }) => [
      String(value),
      String(stateBytes),
      short(cpu),
      short(cpu / (points[0]?.cpu ?? Number.NaN)),
    ]),
  };
}

function chart({ name, title, x, points }: Series): Chart {
  const cost = { name: "CPU us a request", points: points.map((point) => [point.x, point.cpu] as const) };
  return { name: `cost-${name}`, title, x, y: "CPU us a request", lines: [cost] };
}

function check(series: readonly Series[]): Check[] {
  const points = (name: string) => series.find((one) => one.name === name)?.points ?? [];
  const growthOf = (name: string): number => growth(points(name).map(({ samples }) => samples.map(({ cpu }) => cpu)));
  const second = points("rounds").find(({ x }) => x === 2);
  const final = points("rounds").at(-1);
  const bytes = (final?.stateBytes ?? Number.NaN) / (second?.stateBytes ?? Number.NaN);
  const cost = (final?.cpu ?? Number.NaN) / (second?.cpu ?? Number.NaN);
  return [
    atMost("CPU time a round, 5,000 tools / 1", 1.05, growthOf("tools")),
    atMost("CPU time a round, 10,000 rounds waiting / 1", 1.05, growthOf("waiting")),
    {
      figure: "CPU time of round 32 / round 2",
      wanted: `at most ${short(bytes)}, as their states`,
      measured: short(cost),
      reached: cost <= bytes,
    },
  ];
}
