/** The official SDK's codec: signed, not encrypted, bound to the method and the caller. */
import { randomBytes } from "node:crypto";
import { createRequestStateCodec, type ServerContext } from "@modelcontextprotocol/server";
import { type Codec, REQUEST, type Sized, TTL_MS } from "./codec.ts";

const official = createRequestStateCodec({
  key: randomBytes(32),
  ttlSeconds: TTL_MS / 1000,
  bind: (ctx) => `${ctx.mcpReq.method}\0${ctx.http?.authInfo?.clientId ?? ""}`,
});
// All of the context that the codec and the binding read.
const context = { mcpReq: { method: REQUEST.method } } as ServerContext;

export const codec: Codec & Sized = {
  roundTrip: async (body) => official.verify(await official.mint(body, context), context),
  sealedLength: async (body) => (await official.mint(body, context)).length,
};
