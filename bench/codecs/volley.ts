/** Volley's seal; the binding is worked out twice, as the two rounds of a flow do. */
import { ANONYMOUS, createSealer, randomKeyring } from "volley-mcp/state";
import { type Codec, REQUEST, type Sized, TTL_MS } from "./codec.ts";

const MAX_BYTES = 1024 * 1024;
const sealer = createSealer({ keyring: randomKeyring(), audience: "https://tracker.example/mcp" });
const binding = { ...REQUEST, principal: ANONYMOUS };

function seal(body: unknown): string {
  const now = Date.now();
  const times = { issuedAt: now, expiresAt: now + TTL_MS, deadline: now + 6 * TTL_MS };
  return sealer.bind(binding).seal(body, times, MAX_BYTES);
}

export const codec: Codec & Sized = {
  roundTrip: (body) => sealer.bind(binding).open(seal(body), Date.now(), MAX_BYTES).body,
  sealedLength: (body) => seal(body).length,
};
