// Plays a tree's flow to its end, in rounds or as a task, and looks that every replay takes the way that was taken before.
import { randomBytes } from "node:crypto";
import { type Clock, createRounds, defineFlow, type Rounds, type TaskState } from "../../../src/flow/index.ts";
import { createMemoryLedger } from "../../../src/ledger/memory.ts";
import { ANONYMOUS, createKeyring, createSealer, generateKey } from "../../../src/state/index.ts";
import { dice, LIMIT_MS, playTree, type Tree } from "./trees.ts";

const DAY = 24 * 60 * 60_000;
const ROUND_MS = 4_000;
const DEFINITION = defineFlow("tool", "tree", { ttlMs: DAY, flowMs: DAY, roundTimeoutMs: ROUND_MS });
const MOST_LEGS = 200;

/** What is wrong with how a flow was played, in one sentence. */
export class Fault extends Error {}

interface World {
  readonly rounds: Rounds;
  readonly roll: (below: number) => number;
  /** Lets a long sleep pass. */
  jump(): void;
  /** How often each effect was carried out. */
  readonly effects: Map<string, number>;
  /** Limits of rounds that were reached: none may be. */
  readonly late: number[];
  play(tree: Tree, log: string[], withdrawn?: Withdrawn[]): Parameters<Rounds["play"]>[2];
}

/** A race whose other sides may ask nothing more. */
type Withdrawn = readonly [at: string, winner: number];

function createWorld(seed: number): World {
  let offset = 0;
  const late: number[] = [];
  const clock: Clock = {
    now: () => Date.now() + offset,
    after(ms, task) {
      const timer = setTimeout(() => {
        if (ms === ROUND_MS) late.push(ms);
        task();
      }, ms);
      return () => clearTimeout(timer);
    },
  };
  const keyring = createKeyring([generateKey()]);
  const effects = new Map<string, number>();
  const tries = new Map<string, number>();
  const count = (counts: Map<string, number>, name: string): number => {
    const now = (counts.get(name) ?? 0) + 1;
    counts.set(name, now);
    return now;
  };
  return {
    rounds: createRounds({
      sealer: createSealer({ keyring, audience: "https://trees.example/mcp" }),
      keyring,
      ledger: createMemoryLedger({ now: clock.now }),
      clock,
      random: randomBytes,
      trace: undefined,
      development: false,
    }),
    roll: dice(seed ^ 0x5bd1e995),
    jump: () => {
      offset += LIMIT_MS + 1;
    },
    effects,
    late,
    play: (tree, log, withdrawn) => (ctx) =>
      playTree(tree, ctx, {
        decided: (what) => void log.push(what),
        withdrew: (at, winner) => void withdrawn?.push([at, winner]),
        done: (name) => void count(effects, name),
        tries: (name) => count(tries, name),
      }),
  };
}

const base = {
  method: "tools/call" as const,
  target: "tree",
  arguments: {},
  principal: ANONYMOUS,
  client: { info: undefined, capabilities: { elicitation: { form: {} } } },
  progressToken: undefined,
  logLevel: undefined,
  exchange: { notify: () => undefined, onAbort: () => undefined },
};

const answerTo = (key: string) => ({ action: "accept", content: { value: key } });

/** Some of the open questions, never none, and all of them every third time: nobody asks for ever. */
function some(keys: readonly string[], leg: number, roll: World["roll"]): string[] {
  if (leg % 3 === 0) return [...keys];
  const chosen = keys.filter(() => roll(2) === 0);
  return chosen.length > 0 ? chosen : keys.slice(roll(keys.length)).slice(0, 1);
}

/** What is decided by now, which nothing may contradict: a run that is asked for answers may end before it has repeated all. */
function hold(before: readonly string[], now: readonly string[], where: string): readonly string[] {
  const [short, long] = before.length < now.length ? [before, now] : [now, before];
  if (short.every((what, index) => long[index] === what)) return long;
  throw new Fault(`${where}: ${JSON.stringify(before)} was followed by ${JSON.stringify(now)}`);
}

function holdEffects({ effects, late }: World): void {
  for (const [name, times] of effects) if (times > 1) throw new Fault(`${name} was carried out ${times} times`);
  if (late.length > 0) throw new Fault(`a limit was reached: ${late.join(", ")} ms`);
}

/** Plays the flow in rounds, answering some of what is asked each time; each round must repeat what those before decided. */
export async function playInRounds(tree: Tree, seed: number): Promise<readonly string[]> {
  const world = createWorld(seed);
  let before: readonly string[] = [];
  let retry: { requestState?: unknown; inputResponses?: unknown } = {};
  for (let leg = 1; leg <= MOST_LEGS; leg++) {
    const log: string[] = [];
    const withdrawn: Withdrawn[] = [];
    let reply: Awaited<ReturnType<Rounds["play"]>>;
    try {
      const request = { ...base, requestState: retry.requestState, inputResponses: retry.inputResponses };
      reply = await world.rounds.play(request, DEFINITION, world.play(tree, log, withdrawn));
    } catch (error) {
      log.push(`threw ${(error as Error).message}`);
      reply = { type: "complete", value: undefined };
    }
    before = hold(before, log, `round ${leg}`);
    holdEffects(world);
    if (reply.type !== "input_required") return log;
    if (world.roll(3) === 0) world.jump();
    const asked = Object.keys(reply.result.inputRequests ?? {});
    for (const [at, winner] of withdrawn) {
      const lost = asked.find((key) => key.startsWith(`${at}.`) && !`${key}.`.startsWith(`${at}.${winner}.`));
      if (lost !== undefined) throw new Fault(`round ${leg}: "${lost}" is asked, although ${at} is won by ${winner}`);
    }
    const answered = asked.length > 0 ? some(asked, leg, world.roll) : [];
    retry = {
      requestState: reply.result.requestState,
      inputResponses: Object.fromEntries(answered.map((key) => [key, answerTo(key)])),
    };
  }
  throw new Fault(`the flow has not ended after ${MOST_LEGS} rounds`);
}

/** A state as it was saved, and what had been decided by then. */
interface Cut {
  readonly state: TaskState;
  readonly decided: readonly string[];
}

/** Plays the flow as a task, and again from each state that was saved on the way, as if its worker had died there. */
export async function playInCuts(tree: Tree, seed: number, mostCuts: number): Promise<readonly string[]> {
  const world = createWorld(seed);
  const begun = { f: "flow", n: 1, v: 1, q: [], j: [], y: 0, w: 0 };
  const whole = await playTask(world, tree, { state: { body: begun, asks: [] }, decided: [] });
  const cuts = whole.cuts.filter(() => world.roll(whole.cuts.length) < mostCuts);
  for (const cut of cuts) await playTask(world, tree, cut);
  return whole.decided;
}

async function playTask(world: World, tree: Tree, from: Cut): Promise<{ decided: readonly string[]; cuts: Cut[] }> {
  const cuts: Cut[] = [];
  let { state, decided: before } = from;
  let answers: Record<string, unknown> = {};
  for (let leg = 1; leg <= MOST_LEGS; leg++) {
    const log: string[] = [];
    const keeper = {
      async save(saved: TaskState): Promise<void> {
        cuts.push({ state: JSON.parse(JSON.stringify(saved)), decided: [...log] });
        if (world.roll(2) === 0) await new Promise((resolve) => setImmediate(resolve));
      },
      publish: () => undefined,
      hold: () => undefined,
    };
    const task = {
      request: { ...base, requestState: undefined, inputResponses: undefined },
      definition: DEFINITION,
      state,
      answers,
      deadline: Date.now() + 10 * DAY,
      keeper,
    };
    const outcome = await world.rounds.resume(task, world.play(tree, log));
    if (outcome.type === "threw") log.push(`threw ${(outcome.error as Error).message}`);
    before = hold(before, log, `run ${leg} of a task`);
    holdEffects(world);
    if (outcome.type !== "suspended") return { decided: log, cuts };
    state = JSON.parse(JSON.stringify(outcome.state));
    if (outcome.wakeAt !== undefined || world.roll(3) === 0) world.jump();
    const asked = state.asks.map(({ key }) => key);
    const answered = asked.length > 0 ? some(asked, leg, world.roll) : [];
    answers = Object.fromEntries(answered.map((key) => [key, answerTo(key)]));
  }
  throw new Fault(`the task has not ended after ${MOST_LEGS} runs`);
}
