import type { Trace } from "../flow/index.ts";
import {
  decodeHeaderValue,
  ErrorCode,
  HEADERS,
  isObject,
  META,
  matchesParam,
  type ParamHeader,
  PROTOCOL_VERSION,
  paramValue,
  type RequestMetaObject,
  readRequestMeta,
} from "../protocol/index.ts";
import type { HeaderReader } from "./options.ts";
import { headerMismatch, Refusal } from "./refusal.ts";

const SUPPORTED = [PROTOCOL_VERSION];

/**
 * Checks a request's metadata and, where there are headers, that they say the same.
 *
 * @throws RpcError -32602, -32020, -32022
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#server-validation
 */
export function admit(method: string, params: unknown, headers: HeaderReader | undefined): RequestMetaObject {
  const meta = isObject(params) ? params._meta : undefined;
  const version = isObject(meta) ? meta[META.protocolVersion] : undefined;
  const mirrored = headers ? headers.header(HEADERS.protocolVersion) : undefined;
  // The version comes first: what else a request owes depends on it.
  if (typeof version === "string") {
    if (mirrored === null) throw headerMismatch("MCP-Protocol-Version is missing.");
    if (mirrored !== undefined && mirrored !== version) {
      throw headerMismatch("MCP-Protocol-Version does not match the version in params._meta.");
    }
    if (version !== PROTOCOL_VERSION) throw unsupportedVersion(version);
  } else if (typeof mirrored === "string" && mirrored !== PROTOCOL_VERSION) {
    // Requests of earlier revisions carry their version in the header alone.
    throw unsupportedVersion(mirrored);
  }
  const checked = readRequestMeta(params);
  if (headers) {
    const name = headers.header(HEADERS.method);
    if (name === null) throw headerMismatch("Mcp-Method is missing.");
    if (name !== method) throw headerMismatch("Mcp-Method does not match the method in the body.");
  }
  return checked;
}

export function unsupportedVersion(requested: string): Refusal {
  return new Refusal(
    400,
    ErrorCode.UnsupportedProtocolVersion,
    `Unsupported protocol version. This server speaks ${SUPPORTED.join(", ")}.`,
    { supported: SUPPORTED, requested },
  );
}

/** Whether a request carries its version in `_meta`, as requests do from this revision on. */
export function namesVersion(params: unknown): boolean {
  return isObject(params) && isObject(params._meta) && typeof params._meta[META.protocolVersion] === "string";
}

/** Older clients show this to their user, who may be the operator. */
export const FOR_OPERATORS = "to let older clients in, serve it with createLegacyServer of volley-mcp/bridge.";

/** What a client of an earlier revision is told: it cannot know the new way, so the sentence is for its user. */
export function refuseInitialize(params: unknown, trace: Trace): Refusal {
  const asked = isObject(params) ? params.protocolVersion : undefined;
  const requested = typeof asked === "string" ? asked : "";
  trace({ type: "client_refused", requested: requested.slice(0, 32) });
  return new Refusal(
    400,
    ErrorCode.UnsupportedProtocolVersion,
    `This server speaks MCP ${SUPPORTED.join(", ")}, which has no "initialize". Use a client that speaks it too; ${FOR_OPERATORS}`,
    { supported: SUPPORTED, requested },
  );
}

/** Holds the name or URI of a request against `Mcp-Name`. */
export function checkName(target: string, headers: HeaderReader | undefined): void {
  if (!headers) return;
  const mirrored = headers.header(HEADERS.name);
  if (mirrored === null) throw headerMismatch("Mcp-Name is missing.");
  if (decodeHeaderValue(mirrored) !== target)
    throw headerMismatch("Mcp-Name does not match the name or URI in the body.");
}

/** Holds the annotated arguments of a tool against their headers. */
export function checkParamHeaders(declared: readonly ParamHeader[], args: unknown, headers: HeaderReader): void {
  for (const { header, key, path, type } of declared) {
    if (!matchesParam(headers.header(key), paramValue(args, path), type)) {
      throw headerMismatch(`${header} does not match arguments.${path.join(".")}.`);
    }
  }
}
