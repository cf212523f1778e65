// volley-mcp/limits: rate limits that all instances of a service count together, in Redis or Postgres.
export { createRateLimiter, type RateLimiterOptions } from "./limits/shared.ts";
