import type { RequestId } from "../../protocol/index.ts";

/** The JSON of a response with a result that is JSON already. */
export function resultResponse(id: RequestId, result: string): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`;
}

/** The JSON of an error response; the id is left out where it could not be read. */
export function errorResponse(id: RequestId | undefined, code: number, message: string, data?: unknown): string {
  const error = JSON.stringify(data === undefined ? { code, message } : { code, message, data });
  return id === undefined
    ? `{"jsonrpc":"2.0","error":${error}}`
    : `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"error":${error}}`;
}
