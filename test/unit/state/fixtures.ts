import { VolleyError } from "../../../src/protocol/index.ts";
import {
  type Binding,
  type Bound,
  createKeyring,
  createSealer,
  StateRefused,
  type Times,
} from "../../../src/state/index.ts";

export const KEY_1: string = `vk1_${Buffer.alloc(32, 1).toString("base64url")}`;
export const KEY_2: string = `vk1_${Buffer.alloc(32, 2).toString("base64url")}`;

/** 2026-07-28T12:00:00Z, ten minutes to expiry, an hour to the deadline. */
export const NOW = 1_785_240_000_000;
export const TIMES: Times = { issuedAt: NOW, expiresAt: NOW + 600_000, deadline: NOW + 3_600_000 };
export const MAX = 65_536;
export const AUDIENCE = "https://tracker.example/mcp";

export const BINDING: Binding = {
  method: "tools/call",
  target: "update_work_item",
  arguments: { workItemId: 4522, fields: { State: "Resolved" } },
  principal: { type: "user", issuer: "https://login.example", subject: "ada", tenant: "acme" },
};

export function bind(change: Partial<Binding> = {}, audience: string | undefined = AUDIENCE, keys = [KEY_1]): Bound {
  return createSealer({ keyring: createKeyring(keys), audience }).bind({ ...BINDING, ...change });
}

export function errorOf(call: () => unknown): Error {
  try {
    call();
  } catch (error) {
    if (error instanceof Error) return error;
    throw error;
  }
  throw new Error("Nothing was thrown");
}

/** The precise reason of a refusal, or "opened". */
export function refusal(call: () => unknown): string {
  try {
    call();
  } catch (error) {
    if (error instanceof StateRefused) return error.reason;
    throw error;
  }
  return "opened";
}

export function codeOf(error: unknown): string | undefined {
  return VolleyError.is(error) ? error.code : undefined;
}
