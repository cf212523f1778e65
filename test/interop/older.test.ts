/** Our server with the bridge, and the official client as one of 2025-11-25 and as one of today, at the same address. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { devNode, type Listening, startListening } from "../../scripts/listening.ts";
import { root } from "../../scripts/run.ts";
import { officialPeer } from "./official-peer.ts";
import { ourPeer } from "./our-peer.ts";
import type { Peer, Target } from "./peer.ts";
import { probes, rounds } from "./probes.ts";

const targetOver = (transport: "http" | "stdio"): Target =>
  transport === "http"
    ? { transport, url: listening.url }
    : { transport, command: devNode, args: [program, "--stdio"] };

const program = `${root}test/fixtures/older-server.ts`;
let listening: Listening;
beforeAll(async () => {
  listening = await startListening([program]);
}, 30_000);
afterAll(() => listening?.stop());

describe.each(["http", "stdio"] as const)("an official client of 2025-11-25, our server, %s", (transport) => {
  let peer: Peer;
  beforeAll(async () => {
    peer = await officialPeer(targetOver(transport), "legacy");
  }, 30_000);
  afterAll(() => peer?.close());

  test.each(["tools", "prompts", "resources", "templates", "completion", "progress", "cancellation"])(
    "V1, V2: %s",
    (probe) => probes[probe]?.(peer),
  );
  test.each(["threeQuestions", "prompt", "resource", "form", "url", "sampling", "roots", "stateOnly"] as const)(
    "V2: rounds over a live session: %s",
    (round) => rounds[round](peer),
  );
  test("V2: a ninth round is refused with a clear error", async () => {
    const result = await peer.call("nine_rounds");
    expect(result.isError).toBe(true);
    expect(result.text).toContain("still required input after 8 rounds");
    expect(peer.asked.slice(-8)).toEqual(Array.from({ length: 8 }, (_, index) => `form item${index + 1}`));
  });
});

test.each(["http", "stdio"] as const)("V2: clients of today are served at the same address, %s", async (transport) => {
  for (const open of [officialPeer, ourPeer]) {
    const peer = await open(targetOver(transport));
    await rounds.threeQuestions(peer);
    await rounds.nineResults(peer);
    await peer.close();
  }
});
