// A server on standard streams, written by hand. The first argument says how it behaves.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

const [mode = "plain"] = process.argv.slice(2);
const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const text = (value) => ({ resultType: "complete", content: [{ type: "text", text: value }] });
const heard = [];
let listens = 0;

if (mode === "deaf") {
  process.on("SIGTERM", () => {});
  setInterval(() => {}, 1_000);
}
if (mode === "crash") process.exit(3);

createInterface({ input: process.stdin })
  .on("line", (line) => {
    const { id, method, params } = JSON.parse(line);
    heard.push({ id, method, params });
    if (method === "server/discover") {
      if (mode === "legacy") return say({ id, error: { code: -32602, message: "Invalid request parameters" } });
      if (mode === "silent") return;
      if (mode === "refusing") return say({ id, error: { code: -32021, message: "Missing capability" } });
      return say({
        id,
        result: {
          resultType: "complete",
          supportedVersions: ["2026-07-28"],
          capabilities: {},
          _meta: { "io.modelcontextprotocol/serverInfo": { name: "by-hand", version: "1" } },
        },
      });
    }
    if (method === "tools/list") return say({ id, result: { resultType: "complete", tools: [] } });
    if (method === "subscriptions/listen") return listen(id);
    if (method === "tools/call") return call(id, params);
  })
  .on("close", () => {
    if (mode !== "deaf") process.exit(0);
  });

function call(id, params) {
  const { progressToken } = params._meta;
  switch (params.name) {
    case "wait":
      return;
    case "die":
      return process.exit(7);
    case "orphan": {
      // A child that outlives this process, and holds its output open.
      spawn(process.execPath, ["-e", "setTimeout(() => {}, 4_000)"], { stdio: ["ignore", "inherit", "inherit"] });
      const last = { id, result: text("x".repeat(60_000)) };
      if (params.arguments.answers) say(last);
      return setTimeout(() => process.exit(3), 50);
    }
    case "heard":
      return say({ id, result: text(JSON.stringify(heard)) });
    case "env":
      return say({ id, result: text(JSON.stringify(Object.keys(process.env))) });
    case "pieces": {
      const line = Buffer.from(`${JSON.stringify({ jsonrpc: "2.0", id, result: text("é🌍") })}\r\n`);
      let at = 0;
      const timer = setInterval(() => {
        if (at === line.length) return clearInterval(timer);
        process.stdout.write(line.subarray(at, ++at));
      }, 1);
      return;
    }
    case "noise":
      process.stderr.write("a log line\n");
      process.stdout.write("hello\n\n");
      say({ id: 99_999, result: text("nobody asked") });
      say({ id: "q", method: "roots/list" });
      return say({ id, result: text("done") });
    default:
      for (let progress = 1; progress <= 2; progress++) {
        if (progressToken !== undefined) say({ method: "notifications/progress", params: { progressToken, progress } });
      }
      if (params._meta["io.modelcontextprotocol/logLevel"])
        say({ method: "notifications/message", params: { level: "info", data: params.name } });
      setTimeout(() => say({ id, result: text(params.name) }), params.name === "slow" ? 30 : 0);
  }
}

function listen(id) {
  listens++;
  const _meta = { "io.modelcontextprotocol/subscriptionId": id };
  say({
    method: "notifications/tools/list_changed",
    params: { _meta: { "io.modelcontextprotocol/subscriptionId": "another" } },
  });
  say({
    method: "notifications/subscriptions/acknowledged",
    params: { _meta, notifications: { toolsListChanged: true } },
  });
  if (listens > 1) return say({ method: "notifications/tools/list_changed", params: { _meta } });
  say({ method: "notifications/cancelled", params: { requestId: id, reason: "shutting down" } });
  say({ id, result: { resultType: "complete", _meta } });
}
