// One place at which flows are played, one after another: a user with a client of ours and an official one.
import { setTimeout as sleep } from "node:timers/promises";
import { type Client, connect } from "../../src/client.ts";
import { type Kept, playByHand, replay } from "./by-hand.ts";
import type { Counts } from "./counts.ts";
import { type Ending, insist } from "./ending.ts";
import { connectOfficial, type OfficialClient } from "./official.ts";
import { type Attempt, attempt } from "./played.ts";
import type { FleetEvent, FlowPlan, Replay } from "./schedule.ts";
import { BRIEF_MS } from "./server-task.ts";

/** What a client was told about an order. */
export interface Told {
  readonly order: string;
  readonly ending: Ending;
}

export interface Place {
  play(plan: FlowPlan): Promise<void>;
  /** Opens a flow and leaves it waiting. */
  leaveWaiting(): Promise<void>;
  close(): Promise<void>;
}

const MOST_ATTEMPTS = 5;
/** How long before its deadline a state is presented again. */
const LAST_MOMENT_MS = 300;

export interface Scene {
  readonly url: string;
  readonly counts: Counts;
  /** Where everything that clients were told is noted. */
  readonly told: Told[];
  /** Resolves when this has befallen the fleet. */
  over(event: FleetEvent["type"]): Promise<void>;
}

export async function openPlace({ url, counts, told, over }: Scene, number: number): Promise<Place> {
  const user = `user-${number}`;
  let order = "none";
  const open = (name: string): Promise<Client> =>
    connect(url, { headers: () => ({ authorization: `Bearer ${name}`, "x-order": order }) });
  const mine = await open(user);
  const stranger = await open(`user-${number + 1_000}`);
  let official: OfficialClient | undefined;

  /** Plays a flow again, under a new order, as long as it ends in a clear error. */
  const play = async (plan: FlowPlan): Promise<void> => {
    for (let number = 1; ; number++) {
      const next = attempt(plan, number);
      const ending = await (plan.client === "official" ? playOfficial(next) : playOurs(next));
      told.push({ order: next.order, ending });
      if (ending.type === "told") {
        counts.finished += 1;
        return;
      }
      const sentence = ending.type === "refused" ? "The state was refused." : ending.message;
      if (ending.type !== "refused" && !ending.clear) {
        counts.unclear.push(`${next.order}: ${sentence}`);
        return;
      }
      counts.clearErrors.set(sentence, (counts.clearErrors.get(sentence) ?? 0) + 1);
      if (number === MOST_ATTEMPTS) return;
      // Cached by no client, and answered as soon as any process serves.
      await insist(
        () => mine.request("server/discover"),
        () => false,
      );
    }
  };

  const playOfficial = async (next: Attempt): Promise<Ending> => {
    official ??= await connectOfficial(url, user, counts);
    return official.play(next);
  };

  const playOurs = async (next: Attempt): Promise<Ending> => {
    order = next.order;
    const startedAt = Date.now();
    const { ending, kept, twin } = await playByHand(mine, next, counts, over);
    if (twin !== undefined) hear(next, twin);
    if (ending.type !== "told" || ending.said !== "done") return ending;
    for (const kind of next.plan.replays) await again(kind, next, kept);
    if (next.plan.tool === "brief") {
      await sleep(Math.max(0, startedAt + BRIEF_MS - LAST_MOMENT_MS - Date.now()));
      await Promise.all((["same", "other"] as const).map((kind) => again(kind, next, kept)));
    }
    return ending;
  };

  const again = async (kind: Replay, next: Attempt, kept: readonly Kept[]): Promise<void> => {
    const { plan } = next;
    const [first] = kept;
    const last = kept.at(-1);
    if (first === undefined || last === undefined) return;
    if (kind === "same") return hear(next, await replay(mine, last, plan.answers, counts));
    if (kind === "other") return hear(next, await replay(mine, first, plan.others, counts));
    const ending = await replay(kind === "other_user" ? stranger : mine, forge(kind, last), plan.answers, counts);
    if (ending.type === "refused") counts.refusals += 1;
    else if (ending.type === "unheard") hear(next, ending);
    else counts.foreignAccepted += 1;
  };

  /** What somebody was told on the side. */
  const hear = (next: Attempt, ending: Ending): void => {
    told.push({ order: next.order, ending });
    if (ending.type === "told" && ending.said === "conflict") counts.conflicts += 1;
    if ("clear" in ending && !ending.clear) counts.unclear.push(`${next.order}, again: ${ending.message}`);
  };

  return {
    play,
    async leaveWaiting() {
      const args = { order: "waiting", trouble: "none" };
      const step = await mine.start("tools/call", { name: "post", arguments: args });
      if (step.done) throw new Error("A flow was to wait and has ended.");
    },
    async close() {
      await Promise.all([mine.close(), stranger.close(), official?.close()]);
    },
  };
}

/** The round as somebody would present it who has no right to. */
function forge(kind: Replay, kept: Kept): Kept {
  const { params, requestState = "" } = kept;
  switch (kind) {
    case "other_arguments":
      return { ...kept, params: { ...params, arguments: { order: "somebody-else", trouble: "none" } } };
    case "other_tool":
      return { ...kept, params: { ...params, name: params.name === "post" ? "order" : "post" } };
    case "altered": {
      const middle = Math.floor(requestState.length / 2);
      const other = requestState[middle] === "A" ? "B" : "A";
      return { ...kept, requestState: requestState.slice(0, middle) + other + requestState.slice(middle + 1) };
    }
    default:
      return kept;
  }
}
