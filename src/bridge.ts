// volley-mcp/bridge: clients of 2025-11-25 and earlier, served by the official SDK in live sessions.
//
//   createLegacyServer   an official `Server` with what was registered, for any official transport
export { createLegacyServer, type LegacyServerOptions } from "./bridge/index.ts";
