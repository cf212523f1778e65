import { fileURLToPath } from "node:url";
import { type Client, connect } from "../../src/client.ts";
import type { Answer } from "./answers.ts";
import type { Cluster } from "./cluster.ts";
import { showKill, showRound } from "./show.ts";

/** The program of one server process. */
export const SERVER: string = fileURLToPath(new URL("./server.ts", import.meta.url));
export const BUG = 4522;
export const ORIGINAL = 4301;
/** The process that has answered this round is killed before the next. */
const KILL_AFTER = 2;

export interface Ending {
  readonly text: string;
  readonly isError: boolean;
}

/** Has the bug resolved by a cluster, or by one server over stdio; `answer` gives or gets the answers. */
export async function resolveBug(cluster: Cluster | undefined, db: string, answer: Answer): Promise<Ending> {
  const args = [SERVER, "--stdio", "--name", "tracker", "--db", db];
  const client = await connect(cluster?.url ?? { command: process.execPath, args }, {
    async form(ask) {
      const { title } = ask.server;
      if (ask.round === KILL_AFTER && cluster !== undefined && title !== undefined) {
        await cluster.kill(title);
        showKill(title);
      }
      return answer(ask);
    },
  });
  // Each result says in its metadata who made it.
  const instance = (): string => client.server.title ?? client.server.address;
  try {
    // A host lists tools before it calls one, and the first round is not charged for it.
    await client.listTools();
    const result = await client.callTool(
      "update_work_item",
      { workItemId: BUG, fields: { "System.State": "Resolved" } },
      { onRound: (round) => showRound(round, instance()) },
    );
    return endingOf(result);
  } finally {
    await client.close();
  }
}

/** What a result says. */
export function endingOf({ content, isError = false }: Awaited<ReturnType<Client["callTool"]>>): Ending {
  return { text: content.map((block) => (block.type === "text" ? block.text : `(${block.type})`)).join("\n"), isError };
}
