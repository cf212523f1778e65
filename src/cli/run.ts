import { readFileSync } from "node:fs";
import { type ParseArgsOptionsConfig, parseArgs } from "node:util";
import { VolleyError } from "../protocol/index.ts";
import { keygen } from "./keygen.ts";
import { keys } from "./keys.ts";

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

const commands: ReadonlyMap<string, Command> = new Map([
  ["keygen", keygen],
  ["keys", keys],
]);

/** Runs the command line after `volley` and resolves with the exit code: 0, 1 for what went wrong, 2 for a line that cannot be understood. */
export async function run(args: readonly string[], shell: Shell): Promise<number> {
  const { out, err } = shell;
  const [name, ...rest] = args;
  if (name === "--help" || name === "-h" || name === "help") {
    out.write(usage());
    return 0;
  }
  if (name === "--version" || name === "-v") {
    out.write(`${version()}\n`);
    return 0;
  }
  const command = commands.get(name ?? "");
  if (command === undefined) {
    err.write(name === undefined ? usage() : `volley: there is no command "${name}".\n\n${usage()}`);
    return 2;
  }
  try {
    const { values } = parseArgs({
      args: rest,
      options: { ...command.options, help: { type: "boolean", short: "h" } },
    });
    if (values.help) out.write(command.help);
    else await command.run(shell, values);
    return 0;
  } catch (error) {
    if (VolleyError.is(error)) {
      err.write(`volley ${name}: ${error.message}\n`);
      return 1;
    }
    if (!isUsageError(error)) throw error;
    err.write(`volley ${name}: ${error.message}\n\n${command.help}`);
    return 2;
  }
}

function usage(): string {
  const lines = Array.from(commands, ([name, { summary }]) => `  ${name.padEnd(10)}${summary}\n`);
  return `Usage: volley <command> [--help]\n       volley --version\n\nCommands:\n${lines.join("")}`;
}

function version(): string {
  return JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")).version;
}

function isUsageError(error: unknown): error is Error {
  return error instanceof Error && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS_");
}
