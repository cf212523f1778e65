// What other parts may use of the bridge.
export { createLegacyServer, type LegacyServerOptions } from "./legacy-server.ts";
