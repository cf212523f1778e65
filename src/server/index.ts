// What other parts may use of the server.

export type { Quota, RateLimiter } from "./calls/allowance.ts";
export type { TaskEnding, TaskPlay, TaskToPlay } from "./calls/tool-calls.ts";
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
} from "./catalog/author.ts";
export type { CacheHint, Completer, ListedResource, ResourceLister } from "./catalog/registry.ts";
export type { Results } from "./catalog/results.ts";
export { createEventBus, type EventBus, type ServerEvent } from "./changes/events.ts";
export type { TaskWatch } from "./changes/listen.ts";
export type { Core } from "./core.ts";
export type { CorsOptions } from "./http/settings.ts";
export { checkName } from "./message/admission.ts";
export { Call, type HeaderReader, type Reply } from "./message/call.ts";
export { invalidParams, tooMany } from "./message/refusal.ts";
export type { Request, Route } from "./message/request.ts";
export type { Limits, ServerOptions } from "./options.ts";
export { createReporter } from "./report.ts";
export { coreOf, createServer, type Registered, type Server } from "./server.ts";
export type { AttachedTasks, TaskService, TaskSettings } from "./task-service.ts";
