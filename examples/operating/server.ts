import { createRedisEventBus } from "../../src/events/redis.ts";
import { createServer, type Server } from "../../src/index.ts";
import { createPostgresLedger } from "../../src/ledger/postgres.ts";
import { createRateLimiter } from "../../src/limits.ts";
import { createLoadMonitor } from "../../src/node.ts";
import { createTelemetry } from "../../src/telemetry.ts";

/** One instance of a fleet: what the guide on operating shows. */
export async function createInstance(redis: string, postgres: string): Promise<Server> {
  return createServer({
    name: "shop",
    version: "1.0.0",
    audience: "https://shop.example/mcp",
    allowedHosts: ["shop.example"],
    allowedOrigins: ["https://chat.example"],
    ledger: await createPostgresLedger({ connectionString: postgres }),
    bus: await createRedisEventBus({ url: redis }),
    rateLimiter: await createRateLimiter({ url: redis }),
    limits: { callsPerMinute: 600, anonymousCallsPerMinute: 6_000 },
    shedding: createLoadMonitor({ maxDelayMs: 100 }),
    trace: createTelemetry(),
  });
}
