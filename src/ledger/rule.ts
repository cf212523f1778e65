import type { Claim, Hold } from "./ledger.ts";

/** One effect of a row as stores keep it; what it left is kept beside it. */
export interface Effect {
  readonly name: string;
  readonly state: "running" | "in_doubt" | "settled";
  readonly owner: string;
  readonly epoch: number;
  readonly leaseUntil: number;
  readonly answers: Readonly<Record<string, string>>;
}

/** What becomes of a claim; `effects` is the row as it must be written, absent when nothing of it changes. */
export type Decision =
  | { readonly status: "claimed"; readonly epoch: number; readonly effects?: readonly Effect[] }
  | { readonly status: "settled" }
  | { readonly status: "conflict" }
  | { readonly status: "running" }
  | { readonly status: "in_doubt" }
  | { readonly status: "expired" };

/** The last moment that a Date can hold: later ones are as good as never. */
const LAST_MS = 8.64e15;

/**
 * The rule of claims, for the stores that are written in TypeScript. The scripts of Redis and Postgres say the same in
 * their languages, and one contract suite holds all of them to it.
 */
export function decide(effects: readonly Effect[], claim: Claim, now: number): Decision {
  if (now > claim.deadline) return { status: "expired" };
  const alive = (effect: Effect): boolean => effect.state === "running" && effect.leaseUntil > now;

  const contradicted = effects.filter((effect) => contradicts(claim.answers, effect.answers));
  // A running effect may still be given back: until then nobody can say whether its answers count.
  if (contradicted.length > 0) return { status: contradicted.every(alive) ? "running" : "conflict" };

  const effect = effects.find(({ name }) => name === claim.name);
  if (effect?.state === "settled") return { status: "settled" };
  if (effect !== undefined && alive(effect)) {
    return effect.owner === claim.owner ? { status: "claimed", epoch: effect.epoch } : { status: "running" };
  }
  if (effect !== undefined && claim.takeOver !== true) return { status: "in_doubt" };

  const { name, owner, answers } = claim;
  const epoch = (effect?.epoch ?? 0) + 1;
  const begun: Effect = { name, state: "running", owner, epoch, leaseUntil: now + claim.leaseMs, answers };
  return {
    status: "claimed",
    epoch,
    effects: effect === undefined ? [...effects, begun] : effects.map((other) => (other === effect ? begun : other)),
  };
}

/** The row with the held effect changed, or without it; undefined when the hold is lost. */
export function rewrite(
  effects: readonly Effect[],
  hold: Hold,
  change: Partial<Effect> | undefined,
): readonly Effect[] | undefined {
  const held = effects.find(
    ({ name, state, owner, epoch }) =>
      name === hold.name && state === "running" && owner === hold.owner && epoch === hold.epoch,
  );
  if (held === undefined) return undefined;
  return effects.flatMap((effect) => {
    if (effect !== held) return effect;
    return change === undefined ? [] : { ...effect, ...change };
  });
}

/** How long a row must be kept: no shorter than the lease, or the row of a running effect could go. */
export function keptUntil(...times: readonly number[]): number {
  return Math.min(Math.ceil(Math.max(...times)), LAST_MS);
}

function contradicts(mine: Readonly<Record<string, string>>, committed: Readonly<Record<string, string>>): boolean {
  return Object.entries(committed).some(([key, digest]) => Object.hasOwn(mine, key) && mine[key] !== digest);
}
