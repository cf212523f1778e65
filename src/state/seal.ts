import { Buffer } from "node:buffer";
import { checkOptions, isObject, needOption, type OptionNames, VolleyError } from "../protocol/index.ts";
import { associatedText, writeKid } from "./associated-data.ts";
import { BOX_OVERHEAD } from "./box.ts";
import type { Key, Keyring } from "./keys.ts";
import type { Principal } from "./principal.ts";

/** What a sealed state is good for: it opens only where all of this is the same again. */
export interface Binding {
  readonly method: string;
  /** The name of the tool or prompt, or the URI of the resource. */
  readonly target: string;
  /** JSON that passed `checkJson`; absent is the same as `{}`. */
  readonly arguments: unknown;
  readonly principal: Principal;
}

/** When a state was sealed and how long it may be used, in milliseconds since 1970. */
export interface Times {
  readonly issuedAt: number;
  /** The first moment at which the state is refused; a later one than `deadline` is cut to it. */
  readonly expiresAt: number;
  /** The first moment at which every state of the flow is refused. */
  readonly deadline: number;
}

/** What was in a state that opened. */
export interface Opened {
  readonly body: unknown;
  readonly times: Times;
  /** The id of the key that sealed it. */
  readonly kid: string;
}

/** Seals and opens for one binding, whose associated data are computed once. */
export interface Bound {
  /**
   * Seals a JSON value to a token of at most `maxBytes` characters.
   *
   * @throws VolleyError `state_too_large`; `invalid_options` for a time that is no finite number
   */
  seal(body: unknown, times: Times, maxBytes: number): string;
  /**
   * Opens what a client presented.
   *
   * @throws StateRefused whatever is wrong with it
   */
  open(token: unknown, now: number, maxBytes: number): Opened;
}

/** Makes and reads `requestState`. */
export interface Sealer {
  /**
   * Takes the binding as it is now: what happens to its arguments later makes no difference.
   *
   * @throws RpcError -32602 for a name, URI or principal that is not well-formed Unicode
   */
  bind(binding: Binding): Bound;
}

export interface SealerOptions {
  readonly keyring: Keyring;
  /** The configured URL of this service, never taken from a request; absent where only one process will ever open. */
  readonly audience?: string | undefined;
}

/** Why a presented state was refused: for traces and metrics, never for a peer. */
export type StateRefusal =
  | "format" // not a token of ours, or not in its one canonical spelling
  | "too_large" // over the limit of the tool
  | "kid" // sealed by a key that the ring does not hold
  | "authentication" // altered, or bound to another principal, audience, method, target or arguments
  | "body" // authentic, but not what this version seals
  | "future" // issued more than two minutes from now
  | "deadline" // the flow is over
  | "expired"; // the state is

/** A presented state that must not be used; the message is always the same, `reason` and `kid` stay on the server. */
export class StateRefused extends VolleyError {
  readonly reason: StateRefusal;
  /** The id of the key that sealed it, where that is why it was refused. */
  readonly kid: string | undefined;

  constructor(reason: StateRefusal, kid?: string) {
    super("state_refused", "The request state is not valid for this request.");
    this.name = "StateRefused";
    this.reason = reason;
    this.kid = kid;
  }
}

const PREFIX = "v1.";
const KID_END = PREFIX.length + 8;
const HEAD_FORM = /^v1\.[\w-]{8}\./;
const HEAD = KID_END + 1;
const PAD_TO = 256;
const FUTURE_MS = 120_000;

const OPTIONS: OptionNames<SealerOptions> = { keyring: true, audience: true };

/**
 * Makes the sealer of a service: journal to `requestState` and back, encrypted and bound.
 *
 * @example
 * ```ts
 * import { ANONYMOUS, createKeyring, createSealer, generateKey } from "volley-mcp/state";
 *
 * const sealer = createSealer({ keyring: createKeyring([generateKey()]), audience: "https://tracker.example/mcp" });
 * const request = { method: "tools/call", target: "resolve_bug", arguments: { id: 4522 }, principal: ANONYMOUS };
 * const now = Date.now();
 * const times = { issuedAt: now, expiresAt: now + 600_000, deadline: now + 3_600_000 };
 * const requestState = sealer.bind(request).seal({ round: 1 }, times, 65_536);
 * const { body } = sealer.bind(request).open(requestState, now, 65_536); // { round: 1 }
 * ```
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
 */
export function createSealer(options: SealerOptions): Sealer {
  checkOptions("createSealer", options, OPTIONS);
  needOption("createSealer", options, "keyring");
  const { keyring, audience } = options;
  return {
    bind(binding) {
      const text = associatedText(audience, binding);
      // A request that neither brings a state nor gets one needs no bytes.
      let made: Buffer | undefined;
      const aad = (): Buffer => {
        made ??= Buffer.from(text);
        return made;
      };
      return {
        seal: (body, times, maxBytes) => seal(keyring.sealing, aad(), writePlaintext(body, times), maxBytes),
        open: (token, now, maxBytes) => open(keyring, aad(), token, now, maxBytes),
      };
    },
  };
}

function seal(key: Key, aad: Buffer, text: string, maxBytes: number): string {
  const bytes = Buffer.byteLength(text);
  const padded = Math.ceil(bytes / PAD_TO) * PAD_TO;
  const length = HEAD + Math.ceil(((padded + BOX_OVERHEAD) * 4) / 3);
  if (length > maxBytes) {
    throw new VolleyError(
      "state_too_large",
      `The state would be ${length} bytes and its limit is ${maxBytes}: let steps return references instead of whole records, or raise maxStateBytes.`,
    );
  }
  // JSON ignores trailing spaces.
  const plaintext = Buffer.allocUnsafe(padded).fill(0x20, bytes);
  plaintext.write(text);
  const sealed = key.box("state").seal(plaintext, writeKid(aad, key.kid));
  return `${PREFIX}${key.kid}.${sealed.toString("base64url")}`;
}

function open(keyring: Keyring, aad: Buffer, token: unknown, now: number, maxBytes: number): Opened {
  if (typeof token !== "string") throw new StateRefused("format");
  if (token.length > maxBytes) throw new StateRefused("too_large");
  if (!HEAD_FORM.test(token)) throw new StateRefused("format");
  const encoded = token.slice(HEAD);
  const sealed = Buffer.from(encoded, "base64url");
  // The decoder forgives foreign characters, padding, the other alphabet and loose last bits; only one spelling survives the way back.
  if (sealed.length <= BOX_OVERHEAD || sealed.toString("base64url") !== encoded) throw new StateRefused("format");
  const kid = token.slice(PREFIX.length, KID_END);
  const key = keyring.find(kid);
  if (key === undefined) throw new StateRefused("kid", kid);
  const plaintext = key.box("state").open(sealed, writeKid(aad, kid));
  if (plaintext === undefined) throw new StateRefused("authentication");
  const { body, times } = readPlaintext(plaintext.toString());
  if (times.issuedAt > now + FUTURE_MS) throw new StateRefused("future");
  // Written so that a clock which is no number refuses everything.
  if (!(now < times.deadline)) throw new StateRefused("deadline");
  if (!(now < times.expiresAt)) throw new StateRefused("expired");
  return { body, times, kid };
}

function writePlaintext(body: unknown, { issuedAt, expiresAt, deadline }: Times): string {
  if (!Number.isFinite(issuedAt) || !Number.isFinite(expiresAt) || !Number.isFinite(deadline)) {
    throw new VolleyError("invalid_options", "The clock must give milliseconds since 1970 as a finite number.");
  }
  return JSON.stringify({ i: issuedAt, e: Math.min(expiresAt, deadline), d: deadline, b: body });
}

function readPlaintext(text: string): { body: unknown; times: Times } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new StateRefused("body");
  }
  if (!isObject(value)) throw new StateRefused("body");
  const { i, e, d, b } = value;
  if (typeof i !== "number" || typeof e !== "number" || typeof d !== "number" || b === undefined) {
    throw new StateRefused("body");
  }
  return { body: b, times: { issuedAt: i, expiresAt: e, deadline: d } };
}
