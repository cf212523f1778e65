// volley-mcp: make a server and its tools, prompts and resources. Runs on Node, Bun, Deno and workerd.
//
//   createServer          the server; `server.fetch` serves it on any runtime
//   Context               what a handler gets
//   Declined ... InDoubt  what a handler may catch or throw
//   ToolError             an error whose message is for the caller
//   VolleyError, RpcError errors of this process, errors of the wire
//
// Serving over node:http is in volley-mcp/node, over standard streams in volley-mcp/stdio, plain JSON Schema in
// volley-mcp/json-schema, the client in volley-mcp/client.
export type { FormSchema, StandardSchema } from "./elicit/index.ts";
export {
  Cancelled,
  type ClientView,
  type Clock,
  Conflict,
  type Context,
  Declined,
  type EffectDone,
  type EffectOutcome,
  type Elicit,
  Failed,
  type FlowOptions,
  type FormQuestion,
  InDoubt,
  type LoadMonitor,
  NotDone,
  type OnceOptions,
  type Outcome,
  type TaskOptions,
  type Trace,
  type TraceContext,
  type TracedRound,
  type TraceEvent,
  type Winner,
  type WorkScope,
} from "./flow/index.ts";
export type { Claim, ClaimResult, Hold, Ledger, Settled } from "./ledger/index.ts";
export {
  type ContentBlock,
  ErrorCode,
  type Icon,
  PROTOCOL_VERSION,
  type PromptMessage,
  RpcError,
  ToolError,
  VolleyError,
  type VolleyErrorCode,
} from "./protocol/index.ts";
export {
  type CacheHint,
  type Completer,
  type ContentsLike,
  type CorsOptions,
  createEventBus,
  createServer,
  type EventBus,
  type HeaderReader,
  type InputRequired,
  type Limits,
  type ListedResource,
  type PromptHandler,
  type PromptOptions,
  type PromptReturn,
  type Quota,
  type RateLimiter,
  type Registered,
  type ResourceHandler,
  type ResourceLister,
  type ResourceOptions,
  type ResourceReturn,
  type Server,
  type ServerEvent,
  type ServerOptions,
  type StaticResourceOptions,
  type TaskService,
  type TemplateHandler,
  type TemplateOptions,
  type TemplateVariables,
  type ToolOptions,
  type ToolResult,
  type ToolReturn,
} from "./server/index.ts";
export { ANONYMOUS, type Principal } from "./state/index.ts";
