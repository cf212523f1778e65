/// <reference lib="es2024.string" />
import { VolleyError } from "../protocol/index.ts";

/**
 * Who is calling, as the server verified it: stable across token refresh, never a token, never `clientInfo`.
 *
 * State sealed for an anonymous caller is a bearer secret: whoever holds it can go on with the flow.
 */
export type Principal =
  | { readonly type: "anonymous" }
  | { readonly type: "user"; readonly issuer: string; readonly subject: string; readonly tenant?: string };

/** A caller about whom nothing was verified. */
export const ANONYMOUS: Principal = Object.freeze({ type: "anonymous" });

/**
 * Copies a principal to its known fields, in one order: the door through which every caller comes, whatever said who it is.
 *
 * @param from what gave the value, for the message
 * @throws VolleyError `invalid_options` for what is no principal; it says what it was, and none of its values
 */
export function readPrincipal(value: unknown, from: string): Principal {
  const fault = faultOf(value);
  if (fault === undefined) return knownFields(value as Principal);
  throw new VolleyError(
    "invalid_options",
    `\`${from}\` gave ${fault}, which is no principal: one is { type: "user", issuer, subject } (and perhaps tenant), ` +
      'strings that are not empty, or { type: "anonymous" }.',
  );
}

/** What makes a caller, always in this order; two callers are one where it is the same. */
export function knownFields(principal: Principal): Principal {
  if (principal.type === "anonymous") return ANONYMOUS;
  const { type, issuer, subject, tenant } = principal;
  return Object.freeze({ type, issuer, subject, ...(tenant === undefined ? {} : { tenant }) });
}

function faultOf(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return kindOf(value);
  const { type, issuer, subject, tenant } = value as Record<string, unknown>;
  if (type === "anonymous") return undefined;
  if (type !== "user") {
    const what = typeof type === "string" ? 'neither "user" nor "anonymous"' : kindOf(type);
    return `an object whose \`type\` is ${what}`;
  }
  for (const [name, text] of Object.entries({ issuer, subject, ...(tenant === undefined ? {} : { tenant }) })) {
    if (typeof text !== "string") return `an object whose \`${name}\` is ${kindOf(text)}`;
    if (text === "") return `an object whose \`${name}\` is an empty string`;
    if (!text.isWellFormed()) return `an object whose \`${name}\` is a string with half a surrogate pair`;
  }
  return undefined;
}

function kindOf(value: unknown): string {
  if (value === undefined) return "missing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
