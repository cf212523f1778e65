/** What both clients, the official one and ours, can be asked to do, so that one set of probes drives either. */
export interface Peer {
  tools(): Promise<string[]>;
  call(name: string, args?: Record<string, unknown>, watch?: Watch): Promise<Called>;
  prompts(): Promise<string[]>;
  prompt(name: string, args?: Record<string, string>): Promise<string>;
  resources(): Promise<string[]>;
  /** The text of the contents, bytes as their Base64. */
  read(uri: string): Promise<string>;
  templates(): Promise<string[]>;
  complete(ref: Reference, argument: string, value: string): Promise<string[]>;
  listen(
    filter: Filter,
    heard: (method: string, params: Record<string, unknown>) => void,
  ): Promise<() => Promise<void>>;
  /** The questions that this client was asked, in order: `form name`, `url https://...`, `sampling ...`, `roots`. */
  readonly asked: readonly string[];
  close(): Promise<void>;
}

export interface Watch {
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: number) => void;
  readonly logLevel?: "debug" | "info" | "warning";
  readonly onLog?: (line: string) => void;
}

export interface Called {
  readonly text: string;
  readonly isError: boolean;
  readonly structured: unknown;
}

export type Reference = { type: "ref/prompt"; name: string } | { type: "ref/resource"; uri: string };

export interface Filter {
  readonly toolsListChanged?: boolean;
  readonly promptsListChanged?: boolean;
  readonly resourcesListChanged?: boolean;
  readonly resourceSubscriptions?: string[];
}

/** A server to connect to: its URL, or the command that speaks to us on its standard output. */
export type Target =
  | { readonly transport: "http"; readonly url: string }
  | { readonly transport: "stdio"; readonly command: string; readonly args: readonly string[] };

/** What the person at either client says to a form: a word a field, so that a text shows who asked what. */
export function answerTo(fields: readonly string[]): Record<string, string | boolean> {
  return Object.fromEntries(
    fields.map((field) => [field, field === "ok" ? true : (WORDS.get(field) ?? `my ${field}`)]),
  );
}
const WORDS = new Map([
  ["name", "Ada"],
  ["color", "blue"],
  ["city", "Turin"],
]);

export const MODEL_SAYS = "Paris.";
export const ROOT = "file:///srv/project";
