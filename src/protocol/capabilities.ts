// The algebra of client capabilities: what a client can do, and what is missing for these questions.
import type { CreateMessageRequestParams, InputRequest, InputRequests } from "./input.ts";
import type { ClientCapabilities } from "./peer.ts";

/** True when forms may be asked: `elicitation: {}` or `elicitation.form`. */
export function supportsForm(capabilities: ClientCapabilities): boolean {
  const { elicitation } = capabilities;
  // An empty object is a client from before there were modes: forms, and nothing else.
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}

/** True when pages may be asked to be opened: `elicitation.url`. */
export function supportsUrl(capabilities: ClientCapabilities): boolean {
  return capabilities.elicitation?.url !== undefined;
}

/** True when the client's model may be asked. */
export function supportsSampling(capabilities: ClientCapabilities): boolean {
  return capabilities.sampling !== undefined;
}

/** True when the client's model may be given tools. */
export function supportsSamplingTools(capabilities: ClientCapabilities): boolean {
  return capabilities.sampling?.tools !== undefined;
}

/** True when `includeContext` may name servers. */
export function supportsSamplingContext(capabilities: ClientCapabilities): boolean {
  return capabilities.sampling?.context !== undefined;
}

/** True when the client's roots may be asked for. */
export function supportsRoots(capabilities: ClientCapabilities): boolean {
  return capabilities.roots !== undefined;
}

function addMissing(missing: ClientCapabilities, request: InputRequest, has: ClientCapabilities): void {
  switch (request.method) {
    case "elicitation/create":
      if (request.params.mode === "url") {
        if (!supportsUrl(has)) missing.elicitation = { ...missing.elicitation, url: {} };
      } else if (!supportsForm(has)) {
        missing.elicitation = { ...missing.elicitation, form: {} };
      }
      return;
    case "sampling/createMessage":
      addMissingSampling(missing, request.params, has);
      return;
    case "roots/list":
      if (!supportsRoots(has)) missing.roots = {};
  }
}

function addMissingSampling(
  missing: ClientCapabilities,
  params: CreateMessageRequestParams,
  has: ClientCapabilities,
): void {
  const { includeContext } = params;
  if (!supportsSampling(has)) missing.sampling ??= {};
  if ((params.tools !== undefined || params.toolChoice !== undefined) && !supportsSamplingTools(has)) {
    missing.sampling = { ...missing.sampling, tools: {} };
  }
  if ((includeContext === "thisServer" || includeContext === "allServers") && !supportsSamplingContext(has)) {
    missing.sampling = { ...missing.sampling, context: {} };
  }
}

/**
 * What a client would have to declare, and has not, to be asked all of this; undefined when nothing is missing.
 *
 * The value is what the error -32021 carries as `data.requiredCapabilities`.
 *
 * @example
 * ```ts
 * missingCapabilities({ where: { method: "roots/list" } }, {}); // { roots: {} }
 * ```
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
 */
export function missingCapabilities(
  requests: InputRequests,
  capabilities: ClientCapabilities,
): ClientCapabilities | undefined {
  const missing: ClientCapabilities = {};
  for (const request of Object.values(requests)) addMissing(missing, request, capabilities);
  return missing.elicitation || missing.sampling || missing.roots ? missing : undefined;
}
