// What other parts may use of the server.

export { checkName } from "./admission.ts";
export type { Quota, RateLimiter } from "./allowance.ts";
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
export type { Core, Route } from "./core.ts";
export { createEventBus, type EventBus, type ServerEvent } from "./events.ts";
export type { Request } from "./methods.ts";
export type { CacheHint, CorsOptions, HeaderReader, Limits, ServerOptions, Settings } from "./options.ts";
export { invalidParams, tooMany } from "./refusal.ts";
export type { Completer, ListedResource, ResourceLister } from "./registry.ts";
export { createReporter } from "./report.ts";
export type { Results } from "./results.ts";
export { coreOf, createServer, type Registered, type Server } from "./server.ts";
export type { AttachedTasks, TaskService, TaskWatch } from "./task-service.ts";
export type { TaskEnding, TaskPlay, TaskToPlay } from "./tool-calls.ts";
