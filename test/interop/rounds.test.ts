/** Rounds with the official SDK at the other end: its client plays ours, at its cap of ten, and our client plays its. */
import { afterAll, beforeAll, describe, test } from "vitest";
import { join } from "./pairs.ts";
import type { Peer } from "./peer.ts";
import { rounds } from "./probes.ts";

const pairs = [
  { client: "official client", server: "our server", transport: "http" },
  { client: "official client", server: "our server", transport: "stdio" },
  { client: "our client", server: "official server", transport: "http" },
  { client: "our client", server: "official server", transport: "stdio" },
] as const;

describe.each(pairs)("$client, $server, $transport", ({ client, server, transport }) => {
  let peer: Peer;
  beforeAll(async () => {
    peer = await join(client, server, transport);
  }, 30_000);
  afterAll(() => peer?.close());

  test("S13, C6: a tool asks three questions, one a round", () => rounds.threeQuestions(peer));
  test("S13, C9: a flow of nine input_required results ends within ten rounds", () => rounds.nineResults(peer));
  test("S1: a prompt asks before it is made", () => rounds.prompt(peer));
  test("S1: a resource asks before it is read", () => rounds.resource(peer));
  test("S5: a form", () => rounds.form(peer));
  test("S5: a URL", () => rounds.url(peer));
  test("S5: sampling", () => rounds.sampling(peer));
  test("S5: roots", () => rounds.roots(peer));
  test("S19, C1, case 22: a state without a question", () => rounds.stateOnly(peer));
});
