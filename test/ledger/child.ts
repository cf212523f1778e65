// A process of its own that uses a ledger as its first argument says, and tells what it got.
import { once } from "node:events";
import type { Claim } from "../../src/ledger/ledger.ts";
import { openStore, type StoreKind } from "./stores.ts";

export type ChildTask = { readonly kind: StoreKind; readonly location: string } & (
  | { readonly task: "race"; readonly name: string; readonly callers: number; readonly ids: number }
  | { readonly task: "hold"; readonly claim: Claim }
);

const task = JSON.parse(process.argv[2] ?? "{}") as ChildTask;
const ledger = await openStore(task.kind, task.location);

if (task.task === "hold") {
  console.log(JSON.stringify(await ledger.claim(task.claim)));
  // It never settles: it waits to be killed.
  setInterval(() => {}, 60_000);
} else {
  console.log("ready");
  await once(process.stdin, "data");
  const won: string[] = [];
  const minutes = Date.now() + 300_000;
  const caller = async (index: number): Promise<void> => {
    for (let id = 0; id < task.ids; id += 1) {
      const { status } = await ledger.claim({
        row: `race-${id}`,
        name: "pay",
        owner: `${task.name}-${index}`,
        answers: {},
        deadline: minutes,
        keepUntil: minutes,
        leaseMs: 300_000,
      });
      if (status === "claimed") won.push(`race-${id}`);
      else if (status !== "running") throw new Error(status);
    }
  };
  await Promise.all(Array.from({ length: task.callers }, (_, index) => caller(index)));
  console.log(JSON.stringify(won));
  process.exit();
}
