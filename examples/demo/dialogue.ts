import { connect, type FormAnswer, type FormAsk } from "../../src/client.ts";
import { type Cluster, SERVER } from "./cluster.ts";
import { showKill, showRound } from "./show.ts";

export const BUG = 4522;
export const ORIGINAL = 4301;
/** The process that has answered this round is killed before the next. */
const KILL_AFTER = 2;

export interface Ending {
  readonly text: string;
  readonly isError: boolean;
}

/** Has the bug resolved by a cluster, or by one server over stdio; `answer` gives or gets the answers. */
export async function resolveBug(
  cluster: Cluster | undefined,
  db: string,
  answer: (ask: FormAsk) => FormAnswer | Promise<FormAnswer>,
): Promise<Ending> {
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
    const text = result.content.map((block) => (block.type === "text" ? block.text : `(${block.type})`)).join("\n");
    return { text, isError: result.isError === true };
  } finally {
    await client.close();
  }
}
