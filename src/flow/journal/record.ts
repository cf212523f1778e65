import { Buffer } from "node:buffer";
import type { Settled } from "../../ledger/ledger.ts";
import { VolleyError } from "../../protocol/index.ts";
import type { Keyring } from "../../state/index.ts";

const KID_BYTES = 8;

/** A settled value as the ledger keeps it: sealed, under the key it names, bound to its row and name. */
export function sealRecord(keyring: Keyring, row: string, name: string, value: unknown): Uint8Array {
  const key = keyring.sealing;
  const text = JSON.stringify(value === undefined ? [] : [value]);
  return Buffer.concat([Buffer.from(key.kid), key.box("ledger").seal(text, aad(row, name))]);
}

export function openRecord(keyring: Keyring, row: string, settled: Settled): unknown {
  const bytes = Buffer.from(settled.value);
  const key = keyring.find(bytes.toString("latin1", 0, KID_BYTES));
  const text = key?.box("ledger").open(bytes.subarray(KID_BYTES), aad(row, settled.name));
  if (text === undefined) {
    throw new VolleyError(
      "ledger_unavailable",
      `The record of "${settled.name}" cannot be read with the keys of this process. Keep old keys in the ring until ` +
        "the longest flow deadline and the longest `keepFor` have passed.",
    );
  }
  return (JSON.parse(text.toString()) as unknown[])[0];
}

function aad(row: string, name: string): Buffer {
  return Buffer.from(JSON.stringify([row, name]));
}
