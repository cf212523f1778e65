import type { Buffer } from "node:buffer";
import { ErrorCode, RpcError } from "../protocol/index.ts";
import { canonicalJson } from "./digest.ts";
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

// Every field is written as its length, a colon and its text, and an absent one as "-". So no two lists of fields read the same,
// whatever their texts hold. The key id comes second because its place is then the same in every state, which lets
// one buffer serve both the key that opens and the key that seals.
const BEFORE_KID = "2:v18:";
const NO_KID = "--------";

/** All that a state is bound to, with the place for the key id left open. */
export function associatedText(audience: string | undefined, binding: Binding): string {
  const { principal } = binding;
  const text =
    BEFORE_KID +
    NO_KID +
    field(audience) +
    principalFields(principal) +
    field(binding.method) +
    field(binding.target) +
    field(canonicalJson(binding.arguments));
  // Lone surrogates all become the same bytes in UTF-8, so two different names would be bound alike.
  if (!text.isWellFormed()) {
    throw new RpcError(ErrorCode.InvalidParams, "Names, URIs and principals must be well-formed Unicode.");
  }
  return text;
}

/** Puts the id of the key in use into its place. */
export function writeKid(aad: Buffer, kid: string): Buffer {
  aad.write(kid, BEFORE_KID.length, "latin1");
  return aad;
}

function principalFields(principal: Principal): string {
  if (principal.type === "anonymous") return `${field("anonymous")}---`;
  return field("user") + field(principal.issuer) + field(principal.subject) + field(principal.tenant);
}

function field(text: string | undefined): string {
  return text === undefined ? "-" : `${text.length}:${text}`;
}
