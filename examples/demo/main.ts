/**
 * `npm start`: a bug is resolved over three server processes that share nothing but a key; with `--task`, an app is deployed by
 * a task. Options: see options.ts.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Answer, answerAlone, answerInTerminal } from "./answers.ts";
import { startCluster } from "./cluster.ts";
import { deploy } from "./deploy/demo.ts";
import { BUG, ORIGINAL, resolveBug, SERVER } from "./dialogue.ts";
import { type Options, readOptions, USAGE } from "./options.ts";
import { say, showCluster, showEnding, showHeld, showHistory, showItem, showStdio } from "./show.ts";
import { openTracker } from "./tracker.ts";

/** True when what was asked for has happened exactly once. */
async function demo({ auto, stdio, task, port, db }: Options): Promise<boolean> {
  const inTerminal = !auto && process.stdin.isTTY && process.stdout.isTTY;
  const answer = inTerminal ? answerInTerminal : answerAlone;
  if (task) return await deploy(temporaryFile("platform.db"), port, answer);
  return await resolve(db ?? temporaryFile("tracker.db"), stdio ? undefined : port, answer);
}

/** @param port of the proxy; undefined: one server over stdio */
async function resolve(db: string, port: number | undefined, answer: Answer): Promise<boolean> {
  const tracker = openTracker(db);
  const cluster =
    port === undefined
      ? undefined
      : await startCluster({ program: SERVER, args: ["--db", db], name: "tracker", size: 3, port });
  try {
    if (cluster === undefined) showStdio(db);
    else showCluster(cluster, db);
    for (const id of [BUG, ORIGINAL]) showItem(tracker.find(id));

    const ending = await resolveBug(cluster, db, answer);
    showEnding(ending);

    const history = tracker.history(BUG);
    showItem(tracker.find(BUG));
    showHistory(history);
    showHeld();
    return !ending.isError && history.length === 1;
  } finally {
    cluster?.close();
    tracker.close();
  }
}

/** A file that is gone when this process is. */
function temporaryFile(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), "volley-demo-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => process.exit(1));
  return join(folder, name);
}

async function main(): Promise<number> {
  let options: Options;
  try {
    options = readOptions(process.argv.slice(2));
  } catch (error) {
    console.error(`${(error as Error).message}; \`npm start -- --help\` lists the options.`);
    return 2;
  }
  if (options.help) {
    say(USAGE);
    return 0;
  }
  try {
    return (await demo(options)) ? 0 : 1;
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    return 1;
  }
}

process.exitCode = await main();
