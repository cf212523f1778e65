// volley-mcp/errors: every error a caller may meet. Local ones carry a string code, those of the wire a number.
export { ErrorCode, RpcError, ToolError, VolleyError, type VolleyErrorCode } from "./protocol/errors.ts";
