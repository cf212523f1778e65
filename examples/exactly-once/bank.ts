/** The other system: it takes an idempotency key, as payment services do, and can be asked what became of one. */
export interface Bank {
  /** Charges and resolves with the number of the receipt. */
  charge(cents: number, idempotencyKey: string): Promise<number>;
  /** The receipt of the charge with this key, if there was one. */
  find(idempotencyKey: string): Promise<number | undefined>;
}

/** The bank said no, and will say no again. */
export class Refused extends Error {}

/** No connection was made, so nothing can have happened. */
export class Unreachable extends Error {}
