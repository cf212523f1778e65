import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { message } from "./http-entry.ts";

const program = `
import { createServer } from ${JSON.stringify(new URL("../../src/index.ts", import.meta.url).href)};
import { serveStdio } from ${JSON.stringify(new URL("../../src/stdio.ts", import.meta.url).href)};
const server = createServer({ name: "child", version: "1.0.0" });
server.tool("print", {}, (_args, ctx) => {
  console.log("for people");
  console.info("for people");
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, 60_000, "late");
    ctx.signal.addEventListener("abort", () => resolve(clearTimeout(timer)));
  });
});
server.tool("hello", {}, () => "Hello.");
await serveStdio(server);
`;

test("a process serves over its standard streams: stdout holds nothing but messages, and its end is a clean exit", async () => {
  const child = spawn(process.execPath, ["--input-type=module-typescript", "--eval", program], {
    cwd: fileURLToPath(new URL("../../", import.meta.url)),
    env: { ...process.env, NODE_NO_WARNINGS: "1" },
  });
  let out = "";
  let err = "";
  child.stdout.on("data", (chunk) => {
    out += chunk;
  });
  child.stderr.on("data", (chunk) => {
    err += chunk;
  });
  const exited = new Promise<number | null>((resolve) => child.on("exit", resolve));
  const call = (id: number, name: string): string => `${JSON.stringify({ ...message("tools/call", { name }), id })}\n`;
  child.stdin.write(call(1, "print") + call(2, "hello"));
  await new Promise<void>((resolve) => child.stdout.once("data", () => resolve()));
  child.stdin.end();
  expect(await exited).toBe(0);
  expect(
    out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).id),
  ).toEqual([2]);
  expect(err).toBe("for people\nfor people\n");
});
