// What other parts may use of the server.
export type {
  ArgumentsOf,
  ContentsLike,
  Described,
  InputRequired,
  PromptHandler,
  PromptOptions,
  PromptReturn,
  ResourceHandler,
  ResourceOptions,
  ResourceReturn,
  StaticResourceOptions,
  TemplateHandler,
  TemplateOptions,
  TemplateVariables,
  ToolOptions,
  ToolResult,
  ToolReturn,
} from "./author.ts";
export { Call, type Reply } from "./call.ts";
export type { Core } from "./core.ts";
export { createEventBus, type EventBus, type ServerEvent } from "./events.ts";
export type { CacheHint, CorsOptions, HeaderReader, Limits, ServerOptions } from "./options.ts";
export type { Quota, RateLimiter } from "./rate-limiter.ts";
export type { Completer, ListedResource, ResourceLister } from "./registry.ts";
export { coreOf, createServer, type Registered, type Server } from "./server.ts";
