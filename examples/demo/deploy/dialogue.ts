import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { connect } from "../../../src/client.ts";
import type { Answer } from "../answers.ts";
import type { Cluster } from "../cluster.ts";
import { type Ending, endingOf } from "../dialogue.ts";
import { showRound } from "../show.ts";
import type { Platform, Work } from "./platform.ts";
import { showKilled, showMeanwhile, showTask, showWork } from "./show.ts";

/** The program of one server process. */
export const SERVER: string = fileURLToPath(new URL("./server.ts", import.meta.url));
export const APP = "shop 2.1";
/** The process that does this is killed in the middle of it. */
const KILL_IN = "start";
const INTO_IT_MS = 500;
const LOOK_MS = 50;

/** What was seen while the app was deployed. */
export interface Deployed {
  readonly ending: Ending;
  /** What was under way when the task asked. */
  readonly meanwhile: readonly string[];
  readonly killed: string | undefined;
}

/** Has the app deployed by a cluster, and kills the worker half-way; `answer` gives or gets the answers. */
export async function deployApp(cluster: Cluster, platform: Platform, answer: Answer): Promise<Deployed> {
  let taskId: string | undefined;
  let meanwhile: readonly string[] = [];
  await using client = await connect(cluster.url, {
    form(ask) {
      if (taskId !== undefined) {
        const underWay = platform.log().filter(({ done }) => !done);
        meanwhile = underWay.map(({ name }) => name);
        showMeanwhile(underWay);
      }
      return answer(ask);
    },
  });
  await client.listTools();
  const ended = new AbortController();
  const killing = killHalfWay(cluster, platform, ended.signal);
  try {
    const result = await client.callTool(
      "deploy",
      { app: APP },
      {
        onRound: (round) => showRound(round, client.server.title ?? client.server.address, "the rounds are over"),
        onTask(task) {
          showTask(task, taskId === undefined);
          taskId = task.taskId;
        },
      },
    );
    ended.abort();
    return { ending: endingOf(result), meanwhile, killed: await killing };
  } finally {
    ended.abort();
    await killing;
  }
}

/** Looks at the platform's log: shows what is new there, and kills who is in the middle of the work it is told of. */
async function killHalfWay(cluster: Cluster, platform: Platform, ended: AbortSignal): Promise<string | undefined> {
  const shown = new Map<number, Work>();
  let killAt = Number.POSITIVE_INFINITY;
  let killed: string | undefined;
  for (;;) {
    const isOver = ended.aborted;
    for (const work of platform.log()) {
      if (shown.get(work.id)?.done === work.done) continue;
      shown.set(work.id, work);
      showWork(work, cluster.pids.get(work.by));
      if (work.name === KILL_IN && killed === undefined) killAt = performance.now() + INTO_IT_MS;
    }
    if (isOver) return killed;
    if (performance.now() >= killAt && killed === undefined) {
      const work = platform.log().find(({ name, done }) => name === KILL_IN && !done);
      if (work !== undefined) {
        killed = work.by;
        await cluster.kill(killed);
        showKilled(killed, cluster.pids.get(killed), work);
      }
    }
    await delay(LOOK_MS);
  }
}
