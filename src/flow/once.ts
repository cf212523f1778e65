import { type ClaimResult, giveBack, type Hold, type Settled } from "../ledger/index.ts";
import { VolleyError } from "../protocol/index.ts";
import { base64url, digest } from "../state/index.ts";
import type { OnceOptions, WorkScope } from "./context.ts";
import { type ContextPromise, defer, never } from "./context-promise.ts";
import { Conflict, Failed, InDoubt, NotDone } from "./errors.ts";
import { type Flow, refusedState } from "./flow.ts";
import { toJsonCopy } from "./json-value.ts";
import { openRecord, sealRecord } from "./record.ts";
import type { Run } from "./run.ts";
import { shed } from "./shedding.ts";
import type { EffectOutcome } from "./types.ts";
import { measure } from "./work.ts";

const LEASE_MS = 15_000;
/** How long a second arrival is held on the ledger, and how often it looks. */
const HOLD_MS = 20_000;
const LOOK_MS = 200;
const MOST_WAITS = 2;
const MINUTE = 60_000;
/** Rows outlive the last state of their flow by more than any clock may be wrong. */
const SKEW_MS = 5 * MINUTE;

type Effect<T> = (scope: WorkScope) => T | Promise<T>;

/** Where an effect's record is, and what of it must be the same for the same value. */
interface Place {
  readonly row: string;
  readonly deadline: number;
  readonly keepUntil: number;
  readonly answers: Readonly<Record<string, string>>;
}

/**
 * Does what must happen once.
 *
 * Without a business key the flow's row is what is unique, and a flow whose state the client does not hold yet cannot be
 * told from a new one: it gets a ticket first.
 */
export function once<T>(
  run: Run,
  flow: Flow,
  name: string,
  options: OnceOptions<T>,
  effect: Effect<T>,
): ContextPromise<T> {
  const call = run.begin("o", name);
  if (call === undefined) return never();
  checkOptions(flow, name, options);
  const ends = defer<T>();
  const found = run.journal.find("o", name);
  if (found !== undefined) {
    tellOutcome(flow, name, "replayed");
    run.replay(found, () => ends.resolve(found.entry[2] as T));
  } else if (options.key === undefined && !flow.presented) run.wantTicket();
  else if (!shed(run, flow)) {
    const done = (outcome: { readonly value: T } | undefined): Promise<void> | undefined => {
      if (outcome === undefined) {
        run.wantTicket();
        return undefined;
      }
      const copy = toJsonCopy(name, outcome.value);
      measure(run, flow, name, copy.text);
      flow.waits = 0;
      return run.record(copy.value === undefined ? ["o", name] : ["o", name, copy.value], call, () =>
        ends.resolve(copy.value as T),
      );
    };
    run.mayWait = () => mayWait(flow);
    run.work(name, () => happen(flow, name, options, effect), done, ends.reject);
  }
  return run.hand(name, ends.promise);
}

function checkOptions(flow: Flow, name: string, options: OnceOptions<unknown>): void {
  flow.services.requireShared?.();
  if (flow.definition.answersWithoutState === "accept") {
    throw new VolleyError(
      "context_misused",
      `${flow.definition.kind} "${flow.definition.name}" accepts answers without state, so "${name}" cannot be bound to ` +
        'what was answered. Remove `answersWithoutState: "accept"`.',
    );
  }
  if (options.key !== undefined && !(Number.isInteger(options.keepFor) && (options.keepFor ?? 0) > 0)) {
    throw new VolleyError(
      "invalid_options",
      `once("${name}", { key }) needs \`keepFor\`: for how many milliseconds a second try must be recognised.`,
    );
  }
}

/** The effect's value; undefined when another arrival is still at it and this round should end with a ticket. */
export async function happen<T>(
  flow: Flow,
  name: string,
  options: OnceOptions<T>,
  effect: Effect<T>,
): Promise<{ readonly value: T } | undefined> {
  const { ledger, clock, random } = flow.services;
  const admitting = flow.services.admitEffect?.(flow.principal);
  if (admitting !== undefined) await admitting;
  const place = placeOf(flow, options);
  const owner = base64url(random(16));
  const giveUpAt = clock.now() + HOLD_MS;
  let takeOver = false;
  let told: EffectOutcome | undefined;
  for (;;) {
    const askedAt = clock.now();
    const result: ClaimResult = await reach(() => ledger.claim({ ...place, name, owner, leaseMs: LEASE_MS, takeOver }));
    // Who waits for another looks often, and says it once.
    if (result.status !== told) tellOutcome(flow, name, result.status);
    told = result.status;
    switch (result.status) {
      case "claimed": {
        const hold = { row: place.row, name, owner, epoch: result.epoch };
        // Asleep between the claim and its answer: the lease may be over, and another at the effect.
        if (clock.now() - askedAt >= LEASE_MS) {
          await reach(() => giveBack(ledger, hold));
          break;
        }
        const work = result.epoch > 1 && options.recover !== undefined ? options.recover : effect;
        const outcome = await perform(flow, place, hold, work);
        if (outcome !== undefined) return outcome;
        break; // The lease was lost: look at what the new owner made of it.
      }
      case "settled":
        return { value: settledValue(flow, place, result.settled) as T };
      case "conflict":
        throw new Conflict(
          name,
          result.settled
            .filter(({ failed }) => !failed)
            .map((settled) => ({
              name: settled.name,
              value: openRecord(flow.services.keyring, place.row, settled),
            })),
        );
      case "in_doubt":
        if (options.recover === undefined) throw new InDoubt(name);
        takeOver = true;
        break;
      case "expired":
        throw refusedState();
      case "running":
        if (clock.now() >= giveUpAt) return stillRunning(flow, name);
        await pause(flow, LOOK_MS);
    }
  }
}

/** Runs a claimed effect to settle, whatever becomes of the request; undefined when the claim was lost meanwhile. */
async function perform<T>(
  flow: Flow,
  place: Place,
  hold: Hold,
  work: Effect<T>,
): Promise<{ readonly value: T } | undefined> {
  const { ledger, keyring } = flow.services;
  const lost = new AbortController();
  const stop = beat(flow, hold, lost);
  const scope: WorkScope = { idempotencyKey: digest(JSON.stringify([place.row, hold.name])), signal: lost.signal };
  const settle = async (failed: boolean, value: unknown): Promise<boolean> =>
    await reach(() => ledger.settle(hold, { failed, value: sealRecord(keyring, hold.row, hold.name, value) }));
  try {
    let value: T;
    try {
      value = await work(scope);
      toJsonCopy(hold.name, value); // What cannot be recorded cannot be given to a second arrival: nobody knows then.
    } catch (error) {
      if (error instanceof NotDone) {
        tellOutcome(flow, hold.name, "not_done");
        await reach(() => ledger.release(hold));
      } else if (error instanceof Failed) {
        tellOutcome(flow, hold.name, "failed");
        await settle(true, error.message);
      } else {
        tellOutcome(flow, hold.name, "in_doubt");
        await reach(() => ledger.doubt(hold));
        throw new InDoubt(hold.name, { cause: error });
      }
      throw error;
    }
    const settled = await settle(false, value);
    tellOutcome(flow, hold.name, settled ? "done" : "lost");
    return settled ? { value } : undefined;
  } finally {
    stop();
  }
}

function tellOutcome(flow: Flow, name: string, outcome: EffectOutcome): void {
  flow.services.trace?.({ type: "effect", within: flow.traced, target: flow.definition.name, name, outcome });
}

/** Renews the lease while the effect runs, and says so when it is lost. */
function beat(flow: Flow, hold: Hold, lost: AbortController): () => void {
  const { ledger, clock } = flow.services;
  let cancel: () => void;
  let stopped = false;
  const next = (): void => {
    if (stopped) return;
    cancel = clock.after(LEASE_MS / 3, () => {
      ledger.renew(hold, LEASE_MS).then(
        (kept) =>
          kept ? next() : lost.abort(new VolleyError("effect_in_doubt", `The claim of "${hold.name}" is lost.`)),
        next, // The store may answer again before the lease is over.
      );
    });
  };
  next();
  return () => {
    stopped = true;
    cancel();
  };
}

function placeOf(flow: Flow, options: OnceOptions<unknown>): Place {
  const now = flow.services.clock.now();
  const { principal } = flow;
  const row =
    options.key === undefined
      ? digest(flow.id)
      : digest(JSON.stringify(["key", principal, flow.definition.kind, flow.definition.name, options.key]));
  const answers: Record<string, string> = Object.create(null);
  const salt = options.key === undefined ? flow.id : row;
  for (const [, key, , response] of flow.journal.answers) answers[key] = digest(JSON.stringify([salt, key, response]));
  return {
    row,
    answers,
    deadline: options.key === undefined ? flow.deadline : now + SKEW_MS,
    keepUntil: keepUntil(Math.max(flow.deadline, now + (options.keepFor ?? 0))),
  };
}

/** In whole minutes: a time that moved with every look would make the store write at every look. */
export function keepUntil(last: number): number {
  return Math.ceil((last + SKEW_MS) / MINUTE) * MINUTE;
}

function settledValue(flow: Flow, place: Place, settled: Settled): unknown {
  const value = openRecord(flow.services.keyring, place.row, settled);
  if (settled.failed) throw new Failed(String(value));
  return value;
}

function stillRunning(flow: Flow, name: string): undefined {
  if (mayWait(flow)) return undefined;
  throw new VolleyError("effect_running", `"${name}" is still running elsewhere. Try again later.`);
}

function mayWait(flow: Flow): boolean {
  return flow.waits++ < MOST_WAITS;
}

export async function reach<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (cause) {
    throw new VolleyError("ledger_unavailable", "The record of what happened once did not answer. Try again.", {
      cause,
    });
  }
}

function pause(flow: Flow, ms: number): Promise<void> {
  return new Promise((resolve) => void flow.services.clock.after(ms, resolve));
}
