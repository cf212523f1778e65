import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startCluster } from "../../examples/demo/cluster.ts";
import { SERVER } from "../../examples/demo/dialogue.ts";
import { openTracker } from "../../examples/demo/tracker.ts";
import { connect, type FormFields, type PendingRound } from "../../src/client.ts";

const RESOLVE = { name: "update_work_item", arguments: { workItemId: 4522, fields: { "System.State": "Resolved" } } };

test("the demo's change is made once when three processes get its last round, and each tells what was decided", async () => {
  const folder = mkdtempSync(join(tmpdir(), "demo-test-"));
  const db = join(folder, "tracker.db");
  const tracker = openTracker(db);
  const cluster = await startCluster({ program: SERVER, args: ["--db", db], name: "tracker", size: 3, port: 0 });
  try {
    await using client = await connect(cluster.url);
    // The metadata of a result names the process that made it.
    const served = new Set<string>();
    const answered = async (pending: PendingRound, key: string, answer: FormFields): Promise<PendingRound> => {
      pending.answer(key, answer);
      const next = await pending.continue();
      if (next.done) throw new Error(`The flow ended after "${key}".`);
      return next;
    };
    const last = async (at: PendingRound): Promise<string> => {
      const pending = client.resume(at.toJSON());
      pending.answer("sure", { confirm: true });
      const ended = await pending.continue({ onRound: ({ meta }) => served.add(JSON.stringify(meta)) });
      return JSON.stringify(ended.done && ended.result?.content);
    };
    const started = await client.start("tools/call", RESOLVE);
    if (started.done) throw new Error("Nothing was asked.");
    const asked = await answered(started, "resolution", { resolution: "Duplicate" });
    const duplicate = await answered(asked, "duplicate_of", { duplicateOfId: 4301 });
    // An older state, answered otherwise: the change may be either, and is one.
    const other = await answered(client.resume(asked.toJSON()), "duplicate_of", { duplicateOfId: 4278 });

    const told = await Promise.all([duplicate, duplicate, other].map(last));
    expect(served.size).toBe(3);
    const [change, ...more] = tracker.history(4522);
    expect(more).toEqual([]);
    const text = `Bug #4522 resolved as Duplicate of Bug #${change?.duplicateOf}. State set to Resolved and duplicate link created.`;
    const refused = '"change" was already decided with other answers; they can no longer be changed.';
    const [same, otherwise] = change?.duplicateOf === 4301 ? [text, refused] : [refused, text];
    expect(told).toEqual([same, same, otherwise].map((each) => JSON.stringify([{ type: "text", text: each }])));
  } finally {
    cluster.close();
    tracker.close();
    rmSync(folder, { recursive: true });
  }
}, 60_000);
