import { byHand } from "./by-hand.ts";
import type { Connect } from "./client.ts";

export const connect: Connect = async (url) =>
  byHand(async (headers, body) => (await fetch(url, { method: "POST", headers, body })).text());
