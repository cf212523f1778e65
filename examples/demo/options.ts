import { parseArgs } from "node:util";

export const USAGE: string = `Resolves a bug with three questions, each answered to another server process, one of which is killed half-way.

  npm start                  asks in the terminal; without one, as --auto
  npm start -- --auto        answers by itself: Duplicate, 4301, yes; also with --task
  npm start -- --stdio       one server over standard input and output, the same dialogue
  npm start -- --task        deploys an app: asks, goes on as a task, whose worker is killed; another finishes it
  npm start -- --port N      the address that clients call is 127.0.0.1:N; default: a free port
  npm start -- --db FILE     keeps the tracker's database; default: a temporary file
  npm start -- --help        this text

Exit code: 0 when what was asked for was done exactly once, 1 when it was not, 2 for options that are not these.`;

export interface Options {
  readonly help: boolean;
  readonly auto: boolean;
  readonly stdio: boolean;
  readonly task: boolean;
  /** 0: a free port. */
  readonly port: number;
  readonly db: string | undefined;
}

/** @throws Error whose message tells the user what is wrong with the command line */
export function readOptions(args: readonly string[]): Options {
  const { values } = parse(args);
  const port = Number(values.port ?? 0);
  if (values.port?.trim() === "" || !Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new Error(`--port must be a number from 0 to 65535, not "${values.port}"`);
  }
  if (values.stdio && values.port !== undefined) throw new Error("--stdio has no port: leave one of the two out");
  if (values.task && values.stdio) throw new Error("--task needs several processes: leave --stdio out");
  if (values.task && values.db !== undefined) throw new Error("--task keeps no database: leave --db out");
  return { ...values, port, db: values.db };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        help: { type: "boolean", short: "h", default: false },
        auto: { type: "boolean", default: false },
        stdio: { type: "boolean", default: false },
        task: { type: "boolean", default: false },
        port: { type: "string" },
        db: { type: "string" },
      },
    });
  } catch (error) {
    // The rest of the message explains how to pass positional arguments, of which there are none.
    throw new Error(String((error as Error).message).split(". ", 1)[0]);
  }
}
