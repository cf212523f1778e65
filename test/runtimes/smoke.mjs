// The built package, as its users import it, on whatever Node runs this file: a tool that asks, over HTTP and in one
// round written out as data. Plain JavaScript, because older Nodes run no TypeScript.
import assert from "node:assert/strict";
import { createServer as createHttpServer } from "node:http";
import { createServer } from "volley-mcp";
import { connect } from "volley-mcp/client";
import { VolleyError } from "volley-mcp/errors";
import { jsonSchema } from "volley-mcp/json-schema";
import "volley-mcp/ledger/memory";
import { nodeHandler } from "volley-mcp/node";
import "volley-mcp/state";
import "volley-mcp/stdio";
import "volley-mcp/testing";

const server = createServer({ name: "smoke", version: "1.0.0", singleInstance: true });
const input = jsonSchema({ type: "object", properties: { id: { type: "integer" } }, required: ["id"] });
let closed = 0;
server.tool("close", { input }, async ({ id }, ctx) => {
  if (!(await ctx.confirm("sure", `Close #${id}?`))) return "Left open.";
  await ctx.once("close", () => {
    closed += 1;
  });
  return `#${id} closed.`;
});

const http = createHttpServer(nodeHandler(server));
await new Promise((resolve) => http.listen(0, "127.0.0.1", resolve));
const url = `http://127.0.0.1:${http.address().port}/mcp`;

const asked = [];
const client = await connect(url, {
  form: ({ message, fields }) => {
    asked.push(message);
    return { action: "accept", content: { [fields[0].name]: true } };
  },
});
const result = await client.callTool("close", { id: 7 });
assert.deepEqual(result.content, [{ type: "text", text: "#7 closed." }]);
assert.deepEqual(asked, ["Close #7?"]);
assert.equal(closed, 1);

const pending = await client.start("tools/call", { name: "close", arguments: { id: 8 } });
assert.equal(pending.done, false);
assert.equal(typeof JSON.stringify(pending), "string");

await client.close();
http.close();
http.closeAllConnections();
assert.ok(VolleyError.is(new VolleyError("closed", "a local error")));
console.log(`smoke: 3 rounds on Node ${process.version}`);
