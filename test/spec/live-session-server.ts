// An older client's server on standard streams, whose handler notes in a file what its signal says: `node
// live-session-server.ts FILE`.
import { appendFileSync } from "node:fs";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { createLegacyServer } from "../../src/bridge.ts";
import { createServer } from "../../src/index.ts";

const note = (text: string): void => appendFileSync(process.argv[2] ?? "", `${text}\n`);
const server = createServer({ name: "notes", version: "1.0.0" });
server.tool("wait", {}, async (_args, ctx) => {
  note("working");
  await new Promise<void>((resolve) => {
    ctx.signal.addEventListener("abort", () => resolve(), { once: true });
    setTimeout(resolve, 10_000).unref();
  });
  note(ctx.signal.aborted ? String(ctx.signal.reason.message) : "nobody went away");
});
await createLegacyServer(server).connect(new StdioServerTransport());
