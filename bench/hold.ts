import { call } from "./cases.ts";
import type { Memory } from "./contestants/serve.ts";
import { SERVERS, SUBJECT, startServer } from "./contestants.ts";
import { createLoad } from "./lib/load.ts";
import { startContestant } from "./lib/process.ts";
import { type Chart, type Check, type Report, type Settings, short, takesPart } from "./lib/report.ts";
import { createWaitingClients } from "./lib/sessions.ts";

const MIB = 1024 * 1024;
const STAGES = [0, 10_000, 100_000];
/** Sessions cost so much time and memory that the last stage would not fit. */
const SESSION_STAGES = [0, 1_000, 10_000];
const WARM_UP = 10_000;
const CONNECTIONS = 16;
/** V8 lets its young generation grow to three times 16 MiB where requests outlive its collections; this halves that. */
const SMALL_YOUNG = "--max-semi-space-size=8";

interface Held {
  readonly name: string;
  readonly stages: readonly { readonly waiting: number; readonly memory: Memory }[];
}

/** Memory of a server while rounds wait for a person who never comes back, after a full garbage collection. */
export async function hold(settings: Settings): Promise<Report> {
  const scale = settings.quick ? 0.1 : 1;
  const held: Held[] = [];
  for (const name of [SUBJECT, "floor"])
    if (takesPart(settings, name)) held.push(await firstLegs(name, scale, settings));
  if (takesPart(settings, SUBJECT)) held.push(await firstLegs(SUBJECT, scale, settings, [SMALL_YOUNG]));
  if (takesPart(settings, "official")) held.push(await sessions(scale, settings));
  return {
    tables: [
      {
        title: "memory while rounds wait, MiB after garbage collection",
        columns: ["server", "rounds waiting", "heap and buffers", "more than with none", "resident"],
        rows: held.flatMap(({ name, stages }) =>
          stages.map(({ waiting, memory }) => [
            name,
            String(waiting),
            short(used(memory)),
            short(used(memory) - used(stages[0]?.memory)),
            short(memory.resident / MIB),
          ]),
        ),
      },
    ],
    charts: [chart(held)],
    checks: check(held),
    data: held,
  };
}

/** Heap and buffers outside of it, in MiB. */
function used(memory: Memory | undefined): number {
  return memory === undefined ? Number.NaN : (memory.heap + memory.external) / MIB;
}

async function firstLegs(
  name: string,
  scale: number,
  settings: Settings,
  flags: readonly string[] = [],
): Promise<Held> {
  const contestant = SERVERS.find((candidate) => candidate.name === name);
  if (contestant === undefined) throw new Error(`${name} is no contestant`);
  settings.progress(`hold: ${[name, ...flags].join(" ")}`);
  const { process, url } = await startServer(contestant, { tools: 3 }, flags);
  const load = createLoad(
    Array.from({ length: 1_000 }, (_, index) => call("2026-07-28", "resolve_bug", { id: 4300 + index })),
  );
  try {
    await load.run(process, url, CONNECTIONS, { requests: WARM_UP });
    const stages: { waiting: number; memory: Memory }[] = [];
    let waiting = 0;
    for (const stage of STAGES.map((count) => count * scale)) {
      if (stage > waiting) await load.run(process, url, CONNECTIONS, { requests: stage - waiting });
      waiting = stage;
      stages.push({ waiting, memory: (await process.ask("memory")) as Memory });
    }
    return { name: [name, ...flags].join(" "), stages };
  } finally {
    load.remove();
    await process.stop();
  }
}

async function sessions(scale: number, settings: Settings): Promise<Held> {
  settings.progress("hold: official, sessions");
  const server = await startContestant("contestants/official-sessions.ts");
  const { port } = server.ready as { readonly port: number };
  const clients = createWaitingClients(`http://127.0.0.1:${port}/mcp`);
  try {
    const stages: { waiting: number; memory: Memory }[] = [];
    let waiting = 0;
    for (const stage of SESSION_STAGES.map((count) => count * scale)) {
      await clients.wait(stage - waiting);
      waiting = stage;
      stages.push({ waiting, memory: (await server.ask("memory")) as Memory });
    }
    return { name: "official, sessions", stages };
  } finally {
    await server.stop();
    clients.close();
  }
}

function chart(held: readonly Held[]): Chart {
  return {
    name: "memory-waiting",
    title: "Memory against rounds that wait",
    x: "rounds waiting",
    y: "MiB more than with none",
    lines: held.map(({ name, stages }) => ({
      name,
      points: stages.map(({ waiting, memory }) => [waiting, used(memory) - used(stages[0]?.memory)] as const),
    })),
  };
}

function check(held: readonly Held[]): Check[] {
  const mine = held.find(({ name }) => name === SUBJECT)?.stages;
  const floor = held.find(({ name }) => name === "floor")?.stages;
  const last = mine?.at(-1);
  if (mine === undefined || last === undefined) return [];
  const growth = used(last.memory) - used(mine[0]?.memory);
  const checks: Check[] = [
    {
      figure: `heap and buffers with ${last.waiting} rounds waiting, more than with none`,
      wanted: "at most 2 MiB",
      measured: `${short(growth)} MiB`,
      reached: growth <= 2,
    },
  ];
  const floorResident = floor?.at(-1)?.memory.resident;
  if (floorResident === undefined) return checks;
  const more = (last.memory.resident - floorResident) / MIB;
  checks.push({
    figure: `resident memory after ${last.waiting} requests, more than the floor's`,
    wanted: "at most 40 MiB",
    measured: `${short(more)} MiB`,
    reached: more <= 40,
  });
  return checks;
}
