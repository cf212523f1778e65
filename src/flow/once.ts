import { type ClaimResult, giveBack, type Hold, type Settled } from "../ledger/index.ts";
import { checkOptions, type OptionNames, VolleyError } from "../protocol/index.ts";
import { base64url, digest, knownFields } from "../state/index.ts";
import type { OnceOptions, WorkScope } from "./context.ts";
import { type ContextPromise, defer, never } from "./context-promise.ts";
import { Conflict, Failed, InDoubt, NotDone } from "./errors.ts";
import { fromFailure } from "./failure.ts";
import { type Flow, refusedState } from "./flow.ts";
import { toJsonCopy } from "./json-value.ts";
import { openRecord, sealRecord } from "./record.ts";
import { restsOn } from "./rests-on.ts";
import type { Run } from "./run.ts";
import { shed } from "./shedding.ts";
import { waitIdle } from "./turns.ts";
import type { EffectOutcome } from "./types.ts";
import { type Begin, whileHeld } from "./while-held.ts";
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
  if (call === undefined) return run.refuse(name);
  checkOnce(flow, name, options);
  const ends = defer<T>();
  const found = run.journal.find("o", name);
  if (found !== undefined && !flow.isStale(found.entry)) {
    const { entry } = found;
    tellOutcome(flow, name, "replayed");
    run.replay(found, call, () =>
      entry[0] === "f" ? ends.reject(fromFailure(entry[3])) : ends.resolve(entry[2] as T),
    );
  } else if (options.key === undefined && !flow.presented) run.wantTicket();
  else if (!shed(run, flow)) {
    const done = (outcome: { readonly value: T } | undefined): void => {
      if (outcome === undefined) {
        run.wantTicket();
        return;
      }
      const copy = toJsonCopy(name, outcome.value);
      measure(run, flow, name, copy.text);
      flow.waits = 0;
      run.record(copy.value === undefined ? ["o", name] : ["o", name, copy.value], call, () =>
        ends.resolve(copy.value as T),
      );
    };
    const failed = (error: unknown): void => run.recordFailure("o", error, call, ends.reject);
    run.mayWait = () => mayWait(flow);
    const begin: Begin = (work, tooLate) => whileHeld(run, work, tooLate);
    run.works.add(call, { begin: () => happen(flow, name, options, effect, begin), done, failed });
  }
  return run.hand(name, ends.promise);
}

const OPTIONS: OptionNames<OnceOptions<unknown>> = { key: true, keepFor: true, recover: true };

function checkOnce(flow: Flow, name: string, options: OnceOptions<unknown>): void {
  checkOptions("ctx.once", options, OPTIONS);
  flow.services.requireShared?.();
  if (flow.definition.answersWithoutState === "accept") {
    throw new VolleyError(
      "context_misused",
      `${flow.definition.kind} "${flow.definition.name}" accepts answers without state, so "${name}" cannot be bound to ` +
        'what was answered. Remove `answersWithoutState: "accept"`.',
    );
  }
  // Said by its absence, for a key that was forgotten must not make two effects of one.
  const { key } = options as { readonly key?: unknown };
  if (("key" in options || options.keepFor !== undefined) && (typeof key !== "string" || key === "")) {
    throw new VolleyError(
      "invalid_options",
      `once("${name}", { key, keepFor }): \`key\` must be a string that is not empty, your own name for what must happen ` +
        "once. Leave out both where the flow is what is unique.",
    );
  }
  if (key !== undefined && !(Number.isInteger(options.keepFor) && (options.keepFor ?? 0) > 0)) {
    throw new VolleyError(
      "invalid_options",
      `once("${name}", { key }) needs \`keepFor\`: for how many milliseconds a second try must be recognised.`,
    );
  }
}

/**
 * The effect's value; undefined when another arrival is still at it and this round should end with a ticket.
 *
 * @param begin asked before each claim, and again before the effect: either may have taken any time
 */
export async function happen<T>(
  flow: Flow,
  name: string,
  options: OnceOptions<T>,
  effect: Effect<T>,
  begin: Begin = (work) => work(),
): Promise<{ readonly value: T } | undefined> {
  const { ledger, clock, random } = flow.services;
  const admitting = flow.services.admitEffect?.(flow.principal);
  if (admitting !== undefined) await admitting;
  const place = placeOf(flow, options);
  if (options.key === undefined && flow.done.has(name)) effect = options.recover ?? forgotten;
  const owner = base64url(random(16));
  const giveUpAt = clock.now() + HOLD_MS;
  let takeOver = false;
  let told: EffectOutcome | undefined;
  let begun = false;
  for (;;) {
    let askedAt = clock.now();
    const result = await begin<ClaimResult>(() => {
      askedAt = clock.now();
      return reach(() => ledger.claim({ ...place, name, owner, leaseMs: LEASE_MS, takeOver }));
    }, never);
    // Who waits for another looks often, and says it once.
    if (result.status !== told) tellOutcome(flow, name, result.status);
    told = result.status;
    switch (result.status) {
      case "claimed": {
        const hold = { row: place.row, name, owner, epoch: result.epoch };
        if (begun && options.recover === undefined) {
          // A record that forgot the claim of what was begun here must not have it begun again.
          await reach(() => ledger.doubt(hold));
          throw new InDoubt(name);
        }
        const work = (begun || result.epoch > 1) && options.recover !== undefined ? options.recover : effect;
        const act = (): Promise<{ readonly value: T } | undefined> => {
          begun = true;
          return perform(flow, place, hold, work);
        };
        const back = async (): Promise<undefined> => void (await reach(() => giveBack(ledger, hold)));
        // Asleep between the claim and its answer: the lease may be over, and another at the effect.
        const inTime = (): boolean => clock.now() - askedAt < LEASE_MS;
        const outcome = await begin(() => (inTime() ? act() : back()), back);
        if (outcome !== undefined) return outcome;
        // The claim was lost or given back: look at what others made of it.
        await new Promise<void>((resolve) => void waitIdle(LOOK_MS, resolve));
        break;
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
  const settle = (failed: boolean, value: unknown): Promise<boolean> =>
    ledger.settle(hold, { failed, value: sealRecord(keyring, hold.row, hold.name, value) });
  // What is said of an effect counts only if the claim was still there to say it.
  const counts = async (outcome: EffectOutcome, say: () => Promise<boolean>): Promise<boolean> => {
    const counted = await reach(say);
    tellOutcome(flow, hold.name, counted ? outcome : "lost");
    return counted;
  };
  try {
    let value: T;
    try {
      value = await work(scope);
      toJsonCopy(hold.name, value); // What cannot be recorded cannot be given to a second arrival: nobody knows then.
    } catch (error) {
      if (error instanceof NotDone) {
        if (await counts("not_done", () => ledger.release(hold))) throw error;
      } else if (error instanceof Failed) {
        if (await counts("failed", () => settle(true, error.message))) throw error;
      } else if (await counts("in_doubt", () => ledger.doubt(hold))) {
        throw new InDoubt(hold.name, { cause: error });
      }
      return undefined;
    }
    return (await counts("done", () => settle(false, value))) ? { value } : undefined;
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
  const { kind, name } = flow.definition;
  const row =
    options.key === undefined
      ? digest(flow.id)
      : digest(JSON.stringify(["key", knownFields(flow.principal), kind, name, options.key]));
  return {
    row,
    answers: restsOn(flow),
    deadline: options.key === undefined ? flow.deadline : now + SKEW_MS,
    keepUntil: keepUntil(Math.max(flow.deadline, now + (options.keepFor ?? 0))),
  };
}

/** In whole minutes: a time that moved with every look would make the store write at every look. */
export function keepUntil(last: number): number {
  return Math.ceil((last + SKEW_MS) / MINUTE) * MINUTE;
}

/** Instead of an effect that was done, should the ledger not know it any more. */
function forgotten(): never {
  throw new VolleyError("ledger_unavailable", "The record of this effect is lost: it was done earlier in this flow.");
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
