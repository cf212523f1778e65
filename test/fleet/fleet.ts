// One run: a store, the processes behind nginx, the flows and what befalls them; then what was told against what was done.
import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { debuglog } from "node:util";
import { generateKey } from "../../src/state.ts";
import type { StoreKind } from "../ledger/stores.ts";
import { type Counts, noCounts } from "./counts.ts";
import { openPlace, type Place, type Told } from "./flows.ts";
import { startNginx } from "./nginx.ts";
import { createPace, inTime, type Pace } from "./pace.ts";
import { type Stoppable, type Supervised, supervise } from "./processes.ts";
import type { Program } from "./program.ts";
import { type FleetEvent, PROCESSES, type Schedule } from "./schedule.ts";
import { LEASE_MS, type ServerTask } from "./server-task.ts";
import { type FleetStore, startStore } from "./store.ts";
import { openTruth, type Truth } from "./truth.ts";

/** How many flows are played at the same time: more than wait for something to happen to the fleet. */
const LEAST_PLACES = 16;
const MOST_PLACES = 64;
/** Longer than a lease. */
const STOPPED_MS = LEASE_MS + 1_000;
/** `NODE_DEBUG=fleet` tells what happens. */
const log = debuglog("fleet");

type Server = Supervised<ServerTask>;

export async function runFleet(program: Program, kind: StoreKind, { flows, events }: Schedule): Promise<Counts> {
  const counts = noCounts();
  const folder = mkdtempSync(join(tmpdir(), "volley-fleet-"));
  const truth = openTruth(join(folder, "truth.db"));
  const store = await startStore(kind, folder);
  const sockets = Array.from({ length: PROCESSES }, (_, index) => join(folder, `${index}.sock`));
  const nginx = await startNginx(sockets);
  const keys = [generateKey()];
  const watch = {
    died: (signal: NodeJS.Signals | null) => void (signal === "SIGKILL" && counts.kills++),
    async stop(process: Stoppable) {
      counts.stops += 1;
      process.stop();
      await sleep(STOPPED_MS);
      process.goOn();
    },
  };
  const settings = { kind, location: store.location, truth: join(folder, "truth.db"), keys };
  const processes = await Promise.all(
    sockets.map((socket) =>
      supervise<ServerTask>(program, { ...settings, socket, version: 1, skewMs: 0, busy: false }, watch),
    ),
  );
  const told: Told[] = [];
  const past = createPast();
  const size = Math.max(LEAST_PLACES, Math.min(MOST_PLACES, Math.ceil(flows.length / 20)));
  const places = await Promise.all(
    Array.from({ length: size }, (_, index) => openPlace({ url: nginx.url, counts, told, over: past.over }, index)),
  );
  try {
    const pace = createPace(flows.length);
    const suffered = suffer(events, { processes, store, keys }, pace, past.happened);
    const played = places.map(async (place) => {
      for (let index = await pace.begin(); index < flows.length; index = await pace.begin()) {
        const plan = flows[index];
        if (plan === undefined) break;
        await inTime(place.play(plan), () => counts.unclear.push(`flow ${index} did not end`));
        log("flow %d is over", index);
      }
    });
    await Promise.all([suffered, ...played]);
    counts.flows = flows.length;
    log("weighing");
    await weigh(places, processes, store, counts);
  } finally {
    await Promise.all([...places, ...processes].map((part) => part.close()));
    await nginx.close();
    await store.remove();
  }
  compare(told, truth, counts);
  truth.close();
  await rm(folder, { recursive: true, force: true });
  return counts;
}

interface Past {
  happened(event: FleetEvent["type"]): void;
  /** Resolves when it has happened. */
  over(event: FleetEvent["type"]): Promise<void>;
}

function createPast(): Past {
  const past = new Set<string>();
  const waiting = new Map<string, (() => void)[]>();
  return {
    happened(event) {
      past.add(event);
      for (const resolve of waiting.get(event) ?? []) resolve();
    },
    over: (event) =>
      past.has(event)
        ? Promise.resolve()
        : new Promise((resolve) => void waiting.set(event, [...(waiting.get(event) ?? []), resolve])),
  };
}

interface Fleet {
  readonly processes: readonly Server[];
  readonly store: FleetStore;
  readonly keys: readonly string[];
}

/** Lets everything happen in its order, each when its time has come and the one before is over. */
async function suffer(
  events: readonly FleetEvent[],
  { processes, store, keys }: Fleet,
  pace: Pace,
  happened: (event: FleetEvent["type"]) => void,
): Promise<void> {
  const [key = ""] = keys;
  const newKey = generateKey();
  const process = (index: number): Server => processes[index] as Server;
  const roll = async (change: Partial<ServerTask>): Promise<void> => {
    for (const each of processes) await each.restart(change);
  };
  const happen = async (event: FleetEvent): Promise<void> => {
    switch (event.type) {
      case "kill":
        return process(event.process).kill();
      case "stop":
        return process(event.process).stop();
      case "append_key":
        return roll({ keys: [key, newKey] });
      case "seal_with_new_key":
        return roll({ keys: [newKey, key] });
      case "roll_to_version_2":
        return roll({ version: 2 });
      case "busy":
        return process(event.process).tell({ busy: event.on });
      case "skew":
        return process(event.process).restart({ skewMs: event.ms });
      case "stop_store":
        return store.interrupt("stop", event.downMs);
      case "kill_store":
        return store.interrupt("kill", event.downMs);
    }
  };
  for (const event of events) {
    pace.hold(event.at);
    await pace.reached(event.at);
    log("%j", event);
    await happen(event);
    happened(event.type);
  }
  pace.hold(Number.POSITIVE_INFINITY);
}

const WAITING = 600;

/** What the store and the processes hold for rounds that wait: all of them, with nothing else going on. */
async function weigh(
  places: readonly Place[],
  processes: readonly Server[],
  store: FleetStore,
  counts: Counts,
): Promise<void> {
  const heap = async (): Promise<number> => {
    const bytes = await Promise.all(processes.map((process) => process.weigh()));
    return bytes.reduce((sum, each) => sum + each, 0);
  };
  const leave = async (): Promise<void> => {
    for (let left = 0; left < WAITING; left += places.length) {
      await Promise.all(places.map((place) => place.leaveWaiting()));
    }
  };
  const rows = await store.rows();
  await leave();
  // Caches and compiled code come and go; what waiting rounds held would be there each time.
  const growths: number[] = [];
  const least = (): number => Math.min(...growths);
  for (let before = await heap(); growths.length < 3 || (least() > 100 && growths.length < 8); ) {
    await leave();
    const after = await heap();
    growths.push((after - before) / WAITING);
    before = after;
  }
  counts.heapOfWaiting = Math.max(0, Math.round(least()));
  counts.rowsOfWaiting = (await store.rows()) - rows;
}

/** Holds what was told against what was done. */
function compare(told: readonly Told[], truth: Truth, counts: Counts): void {
  const done = truth.done();
  for (const effects of done.values()) {
    counts.effects += effects.length;
    if (effects.length > 1) counts.doneTwice += 1;
  }
  counts.killsInEffects = truth.troubles("die_before") + truth.troubles("die_after");
  counts.cuts = truth.troubles("cut");
  const { late, wrongly } = truth.again();
  counts.late = late;
  counts.doneTwice += wrongly;
  for (const { order, ending } of told) {
    if (ending.type !== "told") continue;
    const effects = done.get(order) ?? [];
    if (ending.said === "nothing" && effects.length > 0) counts.toldOtherwise += 1;
    if (ending.said === "done" && effects.length === 0) counts.lost += 1;
    else if (ending.done.some((value) => !effects.includes(value))) counts.toldOtherwise += 1;
  }
}
