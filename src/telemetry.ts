// volley-mcp/telemetry: a server's rounds as OpenTelemetry spans and metrics.
export { createTelemetry, type TelemetryOptions } from "./telemetry/telemetry.ts";
