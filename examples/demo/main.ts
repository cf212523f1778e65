/** `npm start`: a bug is resolved over three server processes that share nothing but a key. Options: see options.ts. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { answerAlone, answerInTerminal } from "./answers.ts";
import { startCluster } from "./cluster.ts";
import { BUG, ORIGINAL, resolveBug } from "./dialogue.ts";
import { type Options, readOptions, USAGE } from "./options.ts";
import { say, showCluster, showEnding, showHeld, showHistory, showItem, showStdio } from "./show.ts";
import { openTracker } from "./tracker.ts";

/** True when the change is in the database exactly once. */
async function demo({ auto, stdio, port, db = temporaryFile() }: Options): Promise<boolean> {
  const tracker = openTracker(db);
  const cluster = stdio ? undefined : await startCluster(3, db, port);
  try {
    if (cluster === undefined) showStdio(db);
    else showCluster(cluster, db);
    for (const id of [BUG, ORIGINAL]) showItem(tracker.find(id));

    const inTerminal = !auto && process.stdin.isTTY && process.stdout.isTTY;
    const ending = await resolveBug(cluster, db, inTerminal ? answerInTerminal : answerAlone);
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
function temporaryFile(): string {
  const folder = mkdtempSync(join(tmpdir(), "volley-demo-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => process.exit(1));
  return join(folder, "tracker.db");
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
