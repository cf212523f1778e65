import { Buffer } from "node:buffer";
import { VolleyError } from "../protocol/index.ts";
import type { Keyring } from "../state/index.ts";
import { type TaskData, toData, toText } from "./data.ts";
import type { SealedWrite, TaskHead, TaskRecord } from "./engine.ts";
import { type Splice, spliceBetween, spliced } from "./splice.ts";

/** What of a task is sealed: its text as it is now, and how it is stored. */
export interface SealedTask {
  readonly text: string;
  /** Binds what is appended to the text that it changes. */
  readonly base: string;
  /** What was appended since that was written: how often, and how many characters. */
  readonly count: number;
  readonly length: number;
}

const KID_BYTES = 8;
/** The beginning of a sealed text, which is another one each time: its key's name and its nonce. */
const BASE_BYTES = KID_BYTES + 24;
/** In characters: less than this is appended in any case. */
const MIN_APPENDED = 64 * 1024;
/** What a task may keep, in characters. */
export const MOST_TASK_LENGTH: number = 8 * 1024 * 1024;

export function sealWhole(
  keyring: Keyring,
  head: Pick<TaskHead, "id" | "owner">,
  data: TaskData,
): { readonly whole: Uint8Array; readonly sealed: SealedTask } {
  const text = toText(data);
  const whole = seal(keyring, text, [head.id, head.owner]);
  return { whole, sealed: { text, base: baseOf(whole), count: 0, length: 0 } };
}

/**
 * Seals what has changed, or all of it once as much was appended as the text is long: so what is written grows with what
 * was added, and not with its square.
 *
 * @throws VolleyError `state_too_large`
 */
export function sealChange(
  keyring: Keyring,
  { id, owner }: Pick<TaskHead, "id" | "owner">,
  before: SealedTask,
  data: TaskData,
  ended: boolean,
): { readonly write: SealedWrite | undefined; readonly sealed: SealedTask } {
  const text = toText(data);
  if (text === before.text) return { write: undefined, sealed: before };
  if (text.length > MOST_TASK_LENGTH && text.length > before.text.length) throw tooLarge();
  const { base, count } = before;
  const splice = JSON.stringify(spliceBetween(before.text, text));
  const length = before.length + splice.length;
  // Nothing of what a task knew is kept beside its end.
  if (ended || length > Math.max(MIN_APPENDED, text.length)) {
    const { whole, sealed } = sealWhole(keyring, { id, owner }, data);
    return { write: { whole }, sealed };
  }
  const more = seal(keyring, splice, [id, owner, base, count]);
  return { write: { more }, sealed: { text, base, count: count + 1, length } };
}

/** @throws VolleyError `keys_missing` when it was sealed under a key that this process does not have */
export function openTask(
  keyring: Keyring,
  { id, owner, sealed, appended }: TaskRecord,
): { readonly data: TaskData; readonly sealed: SealedTask } {
  const base = baseOf(sealed);
  let length = 0;
  const splices = appended.map((each, count): Splice => {
    const splice = open(keyring, each, [id, owner, base, count]);
    length += splice.length;
    return JSON.parse(splice);
  });
  const text = spliced(open(keyring, sealed, [id, owner]), splices);
  return { data: toData(text), sealed: { text, base, count: appended.length, length } };
}

/** Whether a task would keep more than it may. */
export function isTooLarge(error: unknown): boolean {
  return VolleyError.is(error) && error.code === "state_too_large";
}

function seal(keyring: Keyring, text: string, boundTo: readonly unknown[]): Uint8Array {
  const key = keyring.sealing;
  return Buffer.concat([Buffer.from(key.kid), key.box("task").seal(text, Buffer.from(JSON.stringify(boundTo)))]);
}

function open(keyring: Keyring, sealed: Uint8Array, boundTo: readonly unknown[]): string {
  const bytes = asBuffer(sealed);
  const key = keyring.find(bytes.toString("latin1", 0, KID_BYTES));
  const text = key?.box("task").open(bytes.subarray(KID_BYTES), Buffer.from(JSON.stringify(boundTo)));
  if (text !== undefined) return text.toString();
  throw new VolleyError(
    "keys_missing",
    "A task cannot be read with the keys of this process. Keep old keys in the ring until the longest task has expired.",
  );
}

function baseOf(sealed: Uint8Array): string {
  return asBuffer(sealed).toString("base64", 0, BASE_BYTES);
}

/** Stores may give any kind of bytes. */
function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

function tooLarge(): VolleyError {
  return new VolleyError(
    "state_too_large",
    `A task may keep ${MOST_TASK_LENGTH} characters: its arguments, answers, and what its steps and effects returned. ` +
      "Return references to large data from steps, and let a long loop go on in another task.",
  );
}
