// The HTTP headers that mirror a request's body, and their codec.
import { VolleyError } from "./errors.ts";
import { isObject } from "./guards.ts";

/**
 * Names of the mirroring headers, lower-case as node:http has them; compare names without regard to case.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#request-metadata
 */
export const HEADERS = {
  protocolVersion: "mcp-protocol-version",
  method: "mcp-method",
  name: "mcp-name",
  paramPrefix: "mcp-param-",
} as const;

const PREFIX = "=?base64?";
const SUFFIX = "?=";
const encoder = new TextEncoder();
// A leading byte order mark is part of the value.
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function isSentinel(value: string): boolean {
  return value.startsWith(PREFIX) && value.endsWith(SUFFIX);
}

/** Printable ASCII, without what parsers trim or proxies drop: outer spaces, tabs, nothing at all. */
function isPlain(value: string): boolean {
  const last = value.length - 1;
  if (last < 0 || value.charCodeAt(0) === 0x20 || value.charCodeAt(last) === 0x20) return false;
  for (let i = 0; i <= last; i++) {
    const code = value.charCodeAt(i);
    if (code < 0x20 || code > 0x7e) return false;
  }
  return true;
}

/**
 * A value as a header carries it: as it is, or as `=?base64?...?=` where plain ASCII would not survive.
 *
 * Throws {@link VolleyError} json_unsupported for a string with lone surrogates: it has no UTF-8.
 *
 * @example
 * ```ts
 * encodeHeaderValue("file:///é"); // "=?base64?ZmlsZTovLy/DqQ==?="
 * ```
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#value-encoding
 */
export function encodeHeaderValue(value: string): string {
  if (isPlain(value) && !isSentinel(value)) return value;
  if (!value.isWellFormed()) {
    throw new VolleyError("json_unsupported", "A header cannot carry half a surrogate pair: pass well-formed Unicode");
  }
  let binary = "";
  for (const byte of encoder.encode(value)) binary += String.fromCharCode(byte);
  return PREFIX + btoa(binary) + SUFFIX;
}

/**
 * The value that a header stands for; undefined when it is malformed: raw characters outside printable ASCII, space and tab,
 * Base64 that is broken or not canonical, bytes that are no UTF-8.
 */
export function decodeHeaderValue(header: string): string | undefined {
  for (let i = 0; i < header.length; i++) {
    const code = header.charCodeAt(i);
    if ((code < 0x20 && code !== 0x09) || code > 0x7e) return undefined;
  }
  if (!isSentinel(header)) return header;
  if (header.length < PREFIX.length + SUFFIX.length) return undefined;
  const base64 = header.slice(PREFIX.length, -SUFFIX.length);
  try {
    const binary = atob(base64);
    // atob forgives blanks, missing padding and stray bits; two spellings of one value are one too many.
    if (btoa(binary) !== base64) return undefined;
    const bytes = new Uint8Array(binary.length);
    for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

/** A parameter of a tool that is mirrored into a header. */
export interface ParamHeader {
  /** As the schema spells it, e.g. `Mcp-Param-Region`. */
  readonly header: string;
  /** The same in lower case, for look-ups. */
  readonly key: string;
  /** Property names from the arguments down to the value. */
  readonly path: readonly string[];
  readonly type: ParamType;
}

/** The types that a mirrored parameter may have. */
export type ParamType = "string" | "integer" | "boolean";

const ANNOTATION = "x-mcp-header";
const MAX_DEPTH = 64;
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
// Where a schema holds further schemas; what lies under other keywords (const, enum, default, ...) is data.
const SCHEMA_MAPS = ["patternProperties", "$defs", "definitions", "dependentSchemas"];
const SCHEMA_LISTS = ["allOf", "anyOf", "oneOf", "prefixItems", "items"];
const SCHEMAS = [
  "items",
  "additionalItems",
  "contains",
  "not",
  "if",
  "then",
  "else",
  "additionalProperties",
  "propertyNames",
  "unevaluatedItems",
  "unevaluatedProperties",
  "contentSchema",
];

function invalid(path: readonly string[], rule: string): VolleyError {
  const where = path.length === 0 ? "the input schema" : `"${path.join(".")}"`;
  return new VolleyError("registration_invalid", `${ANNOTATION} at ${where} ${rule}`);
}

/**
 * The parameters of a tool that are mirrored into headers, in the schema's order.
 *
 * Throws {@link VolleyError} registration_invalid, naming parameter and rule, when an `x-mcp-header` is no header token, occurs
 * twice (case aside), sits on anything but a string, integer or boolean, or anywhere that is not reached through `properties`
 * alone; and when the schema is nested deeper than 64 levels.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#schema-extension
 */
export function paramHeaders(inputSchema: unknown): ParamHeader[] {
  const found: ParamHeader[] = [];
  collect(inputSchema, [], true, MAX_DEPTH, found);
  return found;
}

function collect(schema: unknown, path: string[], reachable: boolean, depth: number, found: ParamHeader[]): void {
  if (!isObject(schema)) return;
  if (depth === 0) throw invalid([], `cannot be looked for: it is nested deeper than ${MAX_DEPTH} levels`);
  if (Object.hasOwn(schema, ANNOTATION)) found.push(readAnnotation(schema, path, reachable, found));
  collectEach(schema.properties, path, reachable, depth, found);
  for (const keyword of SCHEMA_MAPS) collectEach(schema[keyword], [...path, keyword], false, depth, found);
  for (const keyword of SCHEMAS) collect(schema[keyword], [...path, keyword], false, depth - 1, found);
  for (const keyword of SCHEMA_LISTS) {
    const list = schema[keyword];
    if (!Array.isArray(list)) continue;
    for (const item of list) collect(item, [...path, keyword], false, depth - 1, found);
  }
}

function collectEach(map: unknown, path: string[], reachable: boolean, depth: number, found: ParamHeader[]): void {
  if (!isObject(map)) return;
  for (const name of Object.keys(map)) collect(map[name], [...path, name], reachable, depth - 1, found);
}

function readAnnotation(
  schema: Record<string, unknown>,
  path: string[],
  reachable: boolean,
  found: readonly ParamHeader[],
): ParamHeader {
  const name = schema[ANNOTATION];
  const { type } = schema;
  if (!reachable || path.length === 0)
    throw invalid(path, "belongs on a property that is reached through properties alone");
  if (typeof name !== "string" || !TOKEN.test(name)) throw invalid(path, "is a header token, such as Region");
  if (type !== "string" && type !== "integer" && type !== "boolean") {
    throw invalid(path, 'belongs on a property of type "string", "integer" or "boolean"');
  }
  const header = `Mcp-Param-${name}`;
  const key = header.toLowerCase();
  if (found.some((other) => other.key === key))
    throw invalid(path, `repeats the header ${header}: choose another name`);
  return { header, key, path, type };
}

/** The value at a property path of a call's arguments, by own properties only; undefined where there is none. */
export function paramValue(args: unknown, path: readonly string[]): unknown {
  let value = args;
  for (const name of path) {
    if (!isObject(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  return value;
}

/** A parameter's value as its header; undefined where the header is left out: null, absent, and what no header can mirror. */
export function encodeParam(value: unknown): string | undefined {
  if (typeof value === "string") return encodeHeaderValue(value);
  if (typeof value === "boolean" || Number.isSafeInteger(value)) return String(value);
  return undefined;
}

const DECIMAL = /^-?\d+(?:\.\d+)?$/;

/**
 * True when a parameter's header, as it came, says the same as the value in the body: integers as numbers (`42.0` is 42), booleans in lower
 * case, strings exactly. No value (null, absent) means no header.
 *
 * An object, array, fraction or number beyond 2^53 of another type is left to the tool's schema: no header can mirror it.
 */
export function matchesParam(header: string | null | undefined, value: unknown, type: ParamType): boolean {
  const absent = header === undefined || header === null;
  if (value === undefined || value === null) return absent;
  const isInteger = Number.isSafeInteger(value);
  if (!isInteger && typeof value !== "string" && typeof value !== "boolean") {
    return type !== "integer" || !Number.isInteger(value);
  }
  const decoded = absent ? undefined : decodeHeaderValue(header);
  if (decoded === undefined) return false;
  if (isInteger && type === "integer") return DECIMAL.test(decoded) && Number(decoded) === value;
  return decoded === String(value);
}
