// What an author writes: the options, arguments and results of tools, prompts and resources.
import type { StandardSchema } from "../elicit/index.ts";
import type { Context, FlowOptions } from "../flow/index.ts";
import type {
  Annotations,
  BlobResourceContents,
  ContentBlock,
  Icon,
  InputRequests,
  MetaObject,
  PromptMessage,
  TextResourceContents,
  ToolAnnotations,
} from "../protocol/index.ts";
import type { CacheHint } from "./options.ts";
import type { Completer, ResourceLister } from "./registry.ts";

/** What every list entry may say of itself. */
export interface Described {
  /** For people; the name is for programs. */
  readonly title?: string;
  readonly description?: string;
  readonly icons?: readonly Icon[];
  readonly _meta?: MetaObject;
}

export interface ToolOptions extends Described, FlowOptions {
  /** The arguments. Without it the tool takes none. */
  readonly input?: StandardSchema;
  /** What the tool returns as `structuredContent`; checked before it leaves. */
  readonly output?: StandardSchema;
  /**
   * Each call becomes a task at once. A client that follows none is refused with -32021 (`"required"`), or gets the
   * result in the request (`"optional"`). Default: the handler decides, by `ctx.toTask`.
   */
  readonly task?: "required" | "optional";
  /** Hints for clients; never a ground for trust. */
  readonly annotations?: ToolAnnotations;
}

/** {@link ToolOptions} as they are inferred: also with schemas that {@link Known} then refuses by a message. */
export type GivenToolOptions = Omit<ToolOptions, "input" | "output"> & {
  readonly input?: StandardSchema | SchemaWithoutJson;
  readonly output?: StandardSchema | SchemaWithoutJson;
};

/** What was inferred, without options that do not exist: the compiler looks for those in types that it knows alone. */
export type Known<Given, Options> = Given & {
  readonly [Name in keyof Given]: Name extends keyof Options
    ? Given[Name] extends SchemaWithoutJson
      ? Unusable<"valibot: toStandardJsonSchema(schema) of @valibot/to-json-schema">
      : unknown
    : NoSuchOption<Name>;
};

interface SchemaWithoutJson {
  readonly "~standard": { readonly validate: unknown; readonly jsonSchema?: never };
}

interface Unusable<Remedy> {
  readonly "does not convert itself to JSON Schema": Remedy;
}

interface NoSuchOption<Name> {
  readonly "there is no such option": Name;
}

/** What a handler's schema makes of its arguments; an empty object where there is none. */
export type ArgumentsOf<Schema> = Schema extends StandardSchema<infer Arguments> ? Arguments : Record<string, never>;

/** The specification's own shape, for handlers that write it themselves: at least one of both fields. */
export interface InputRequired {
  readonly resultType: "input_required";
  readonly inputRequests?: InputRequests;
  /** Any text; it is sealed like every other state, and comes back as `ctx.requestState`. */
  readonly requestState?: string;
  readonly _meta?: MetaObject;
}

/** A whole tool result; `resultType` is added. */
export interface ToolResult {
  readonly content: readonly ContentBlock[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
  readonly _meta?: MetaObject;
}

/** What a tool may return: with an output schema a value for it, or a whole result that holds one; else text or content. */
export type ToolReturn<Options> = Options extends {
  readonly output: infer Output extends StandardSchema;
}
  ? DeepReadonly<InputOf<Output> | StructuredResult> | InputRequired
  : PlainReturn;

type StructuredResult =
  | { structuredContent: unknown; content?: ContentBlock[]; isError?: false; _meta?: MetaObject }
  | (ToolResult & { isError: true });

// biome-ignore lint/suspicious/noConfusingVoidType: a handler that returns nothing has no content
type PlainReturn = string | DeepReadonly<ContentBlock[] | ToolResult> | InputRequired | undefined | void;

type InputOf<Schema extends StandardSchema> = NonNullable<Schema["~standard"]["types"]>["input"];

/** Literals are inferred as constants, so that `"text"` is not any string; what takes them must take constants. */
type DeepReadonly<T> = T extends object ? { readonly [K in keyof T]: DeepReadonly<T[K]> } : T;

export interface PromptOptions<Arguments> extends Described, FlowOptions {
  /** The arguments: an object schema whose fields are strings. */
  readonly arguments?: StandardSchema<Arguments>;
  /** Completions by argument. */
  readonly complete?: Readonly<Record<string, Completer>>;
}

/** What a prompt may return: the text of one user message, messages, or a whole result. */
export type PromptReturn =
  | string
  | readonly PromptMessage[]
  | { readonly messages: readonly PromptMessage[]; readonly description?: string; readonly _meta?: MetaObject }
  | InputRequired;

export type PromptHandler<Arguments> = (args: Arguments, ctx: Context) => PromptReturn | Promise<PromptReturn>;

export interface ResourceOptions extends Described, FlowOptions {
  readonly mimeType?: string;
  readonly annotations?: Annotations;
  /** How long clients may keep what they read. Default: not at all, `"private"`. */
  readonly cache?: CacheHint;
}

export interface StaticResourceOptions extends ResourceOptions {
  /** In bytes, where it is known beforehand. */
  readonly size?: number;
}

export interface TemplateOptions extends ResourceOptions {
  /** Completions by variable. */
  readonly complete?: Readonly<Record<string, Completer>>;
  /** What of this template exists for a caller, for `resources/list`. */
  readonly list?: ResourceLister;
}

/** Contents of a resource; `uri` and `mimeType` are filled in. Bytes become base64. */
export type ContentsLike =
  | (Omit<TextResourceContents, "uri"> & { uri?: string })
  | (Omit<BlobResourceContents, "uri" | "blob"> & { uri?: string; blob: string | Uint8Array });

/** What a resource may return; undefined says that there is none. */
export type ResourceReturn =
  | string
  | Uint8Array
  | ContentsLike
  | readonly ContentsLike[]
  | ({ readonly contents: readonly ContentsLike[]; readonly _meta?: MetaObject } & Partial<CacheHint>)
  | InputRequired
  | undefined;

export type ResourceHandler = (uri: string, ctx: Context) => ResourceReturn | Promise<ResourceReturn>;

/** The variables of a template, decoded; lists joined by commas. */
export type TemplateHandler<Template extends string> = (
  variables: TemplateVariables<Template>,
  ctx: Context,
  uri: string,
) => ResourceReturn | Promise<ResourceReturn>;

/** `TemplateVariables<"db://{table}/{row}">` is `{ table: string; row: string }`. */
export type TemplateVariables<Template extends string> = string extends Template
  ? Readonly<Record<string, string>>
  : { readonly [Name in NamesIn<Template>]: string };

type NamesIn<Template extends string> = Template extends `${string}{${infer Expression}}${infer Rest}`
  ? NameOf<WithoutOperator<Expression>> | NamesIn<Rest>
  : never;
type WithoutOperator<Expression extends string> =
  Expression extends `${"+" | "#" | "." | "/" | ";" | "?" | "&"}${infer Names}` ? Names : Expression;
type NameOf<Names extends string> = Names extends `${infer First},${infer Rest}`
  ? Bare<First> | NameOf<Rest>
  : Bare<Names>;
type Bare<Name extends string> = Name extends `${infer Plain}*`
  ? Plain
  : Name extends `${infer Plain}:${string}`
    ? Plain
    : Name;
