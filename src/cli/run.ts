import { parseArgs } from "node:util";
import { keygen } from "./keygen.ts";

/** Where a command writes. */
export interface Output {
  write(text: string): unknown;
}

/** One word after `volley`. */
export interface Command {
  /** One line for the list of commands. */
  readonly summary: string;
  /** What `volley <command> --help` prints. */
  readonly help: string;
  /** Does the work. */
  run(out: Output): void;
}

const commands: ReadonlyMap<string, Command> = new Map([["keygen", keygen]]);

/** Runs the command line after `volley` and returns the exit code: 0, or 2 for a line that cannot be understood. */
export function run(args: readonly string[], out: Output, err: Output): number {
  const [name, ...rest] = args;
  if (name === "--help" || name === "-h" || name === "help") {
    out.write(usage());
    return 0;
  }
  const command = commands.get(name ?? "");
  if (command === undefined) {
    err.write(name === undefined ? usage() : `volley: there is no command "${name}".\n\n${usage()}`);
    return 2;
  }
  try {
    const { values } = parseArgs({ args: rest, options: { help: { type: "boolean", short: "h" } } });
    if (values.help) out.write(command.help);
    else command.run(out);
    return 0;
  } catch (error) {
    if (!isUsageError(error)) throw error;
    err.write(`volley ${name}: ${error.message}\n\n${command.help}`);
    return 2;
  }
}

function usage(): string {
  const lines = Array.from(commands, ([name, { summary }]) => `  ${name.padEnd(10)}${summary}\n`);
  return `Usage: volley <command> [--help]\n\nCommands:\n${lines.join("")}`;
}

function isUsageError(error: unknown): error is Error {
  return error instanceof Error && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS_");
}
