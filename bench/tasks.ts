import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgres } from "../test/support/postgres.ts";
import { mayRun, type PrivateServer } from "../test/support/private-server.ts";
import { startRedis } from "../test/support/redis.ts";
import { call, expectThat, send } from "./cases.ts";
import type { TaskLoad } from "./clients/tasks.ts";
import type { EngineCalls, EngineOptions } from "./contestants/task-engine.ts";
import { type Contestant, LOAD_CPU, startContestant } from "./lib/process.ts";
import { type Report, type Settings, short, showRatio, takesPart } from "./lib/report.ts";
import { alternate, ratio, type Sample, spread } from "./lib/stats.ts";

const ENGINES = ["sqlite", "redis", "postgres"] as const;
const FLOORS = {
  sqlite: "a bare transaction for each state",
  redis: "a bare BullMQ job",
  postgres: "a bare BullMQ job",
};
const IN_FLIGHT = 16;

interface Outcome {
  readonly engine: EngineOptions["engine"];
  readonly floor: readonly Sample[];
  readonly tasks: readonly Sample[];
  /** What one task takes, alone. */
  readonly calls: EngineCalls;
}

/** A contestant, and how it is measured. */
interface Entrant {
  measure(ms: number): Promise<Sample>;
}

/** Tasks from their call over one answer to their end, against bare jobs or transactions on the same store. */
export async function tasks(settings: Settings): Promise<Report> {
  const outcomes: Outcome[] = [];
  for (const engine of ENGINES) {
    if (takesPart(settings, engine) && hasPrograms(engine)) outcomes.push(await measure(engine, settings));
  }
  return {
    tables: [
      {
        title: `tasks with one answer, ${IN_FLIGHT} in flight`,
        columns: ["engine", "contestant", "floor / it, tasks a second", "CPU us a task", "reads", "writes", "wake-ups"],
        rows: outcomes.flatMap((outcome) => rows(outcome)),
      },
    ],
    charts: [],
    checks: [],
    data: outcomes,
  };
}

function rows({ engine, floor, tasks: ours, calls }: Outcome): string[][] {
  const cpu = (samples: readonly Sample[]): string => short(spread(samples.map((sample) => sample.cpu)).median);
  const rates = (samples: readonly Sample[]): readonly number[] => samples.map(({ rate }) => rate);
  const { reads, writes, wakes } = calls;
  return [
    [engine, FLOORS[engine], "1", cpu(floor), "-", "-", "-"],
    [engine, "volley", showRatio(ratio(rates(floor), rates(ours))), cpu(ours), ...[reads, writes, wakes].map(short)],
  ];
}

function hasPrograms(engine: EngineOptions["engine"]): boolean {
  if (engine === "redis") return mayRun("redis-server");
  return engine !== "postgres" || mayRun("initdb");
}

async function measure(engine: EngineOptions["engine"], settings: Settings): Promise<Outcome> {
  settings.progress(`tasks: ${engine}`);
  const folder = mkdtempSync(join(tmpdir(), "volley-bench-"));
  const processes: Contestant[] = [];
  let program: PrivateServer | undefined;
  const start = async (file: string, options: object, cpu?: number): Promise<Contestant> => {
    const process = await startContestant(file, options, cpu);
    processes.push(process);
    return process;
  };
  try {
    program = engine === "redis" ? await startRedis() : engine === "postgres" ? await startPostgres() : undefined;
    const at = (name: string): EngineOptions => ({ engine, location: program?.url ?? join(folder, name) });
    const floor = await start("contestants/job.ts", at("floor.db"));
    const server = await start("contestants/volley-tasks.ts", at("tasks.db"));
    const url = `http://127.0.0.1:${(server.ready as { readonly port: number }).port}/mcp`;
    const load = await start("clients/tasks.ts", { url }, LOAD_CPU);

    const bare: Entrant = { measure: async (ms) => (await floor.ask({ ms })) as Sample };
    const whole: Entrant = {
      async measure(ms) {
        const before = server.cpuMicros();
        const done = (await load.ask({ ms, inFlight: IN_FLIGHT })) as TaskLoad;
        return { rate: (done.tasks / done.ms) * 1000, cpu: (server.cpuMicros() - before) / done.tasks };
      },
    };
    const contestants = [bare, whole];
    const ms = settings.seconds * 1000;
    for (const contestant of contestants) await contestant.measure(3 * ms);
    const calls = await callsOfOne(url, load);
    const [bareSamples = [], samples = []] = await alternate(contestants, settings.pairs, (each) =>
      each.measure(2 * ms),
    );
    return { engine, floor: bareSamples, tasks: samples, calls };
  } finally {
    for (const process of processes) await process.stop();
    await program?.remove();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What of the store one task takes, by the mean of some, one after the other. */
async function callsOfOne(url: string, load: Contestant): Promise<EngineCalls> {
  const before = await engineCalls(url);
  const done = (await load.ask({ ms: 100, inFlight: 1 })) as TaskLoad;
  const after = await engineCalls(url);
  expectThat(done.tasks > 0, "a task ends", done);
  return {
    reads: (after.reads - before.reads) / done.tasks,
    writes: (after.writes - before.writes) / done.tasks,
    wakes: (after.wakes - before.wakes) / done.tasks,
  };
}

async function engineCalls(url: string): Promise<EngineCalls> {
  const { content } = await send(url, call("2026-07-28", "engine_calls", {}));
  return JSON.parse(content?.[0]?.text ?? "{}") as EngineCalls;
}
