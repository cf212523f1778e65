import type { ParseArgsOptionsConfig } from "node:util";

/** Where a command writes. */
export interface Output {
  write(text: string): unknown;
}

/** What a command has to do with. */
export interface Shell {
  readonly out: Output;
  readonly err: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Begins to read the standard input, line by line. */
  readonly lines: () => AsyncIterable<string>;
}

/** One word after `volley`. */
export interface Command {
  /** One line for the list of commands. */
  readonly summary: string;
  /** What `volley <command> --help` prints. */
  readonly help: string;
  /** Its options, beside `--help`. */
  readonly options?: ParseArgsOptionsConfig;
  /** Does the work. */
  run(shell: Shell, options: Readonly<Record<string, unknown>>): void | Promise<void>;
}
