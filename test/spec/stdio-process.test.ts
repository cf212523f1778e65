import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { message } from "./http-entry.ts";

const url = (path: string): string => JSON.stringify(new URL(`../../${path}`, import.meta.url).href);
const begin = `
import { createServer } from ${url("src/index.ts")};
import { serveStdio } from ${url("src/stdio.ts")};
const server = createServer({ name: "child", version: "1.0.0", singleInstance: true });
server.tool("hello", {}, () => "Hello.");
`;

interface Child {
  readonly process: ChildProcessWithoutNullStreams;
  out(): string;
  err(): string;
  /** The exit code. */
  readonly exited: Promise<number | null>;
}

function start(program: string): Child {
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
  return {
    process: child,
    out: () => out,
    err: () => err,
    exited: new Promise((resolve) => child.on("close", resolve)),
  };
}

const call = (id: number, name: string): string => `${JSON.stringify({ ...message("tools/call", { name }), id })}\n`;
const idsIn = (out: string): unknown[] => {
  return out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line).id);
};

test("a process serves over its standard streams: stdout holds nothing but messages, and its end is a clean exit", async () => {
  const child = start(`${begin}
server.tool("print", {}, (_args, ctx) => {
  console.log("for people");
  console.info("for people");
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, 60_000, "late");
    ctx.signal.addEventListener("abort", () => resolve(clearTimeout(timer)));
  });
});
await serveStdio(server);`);
  child.process.stdin.write(call(1, "print") + call(2, "hello"));
  await new Promise<void>((resolve) => child.process.stdout.once("data", () => resolve()));
  child.process.stdin.end();
  expect(await child.exited).toBe(0);
  expect(idsIn(child.out())).toEqual([2]);
  expect(child.err()).toBe("for people\nfor people\n");
});

test("case 57: no method of console reaches stdout, and afterwards all of them do what they did", async () => {
  const child = start(`${begin}
const before = { ...console };
server.tool("print", {}, () => {
  for (const [name, method] of Object.entries(console)) {
    if (typeof method !== "function" || name === "Console" || name === "context") continue;
    if (name.startsWith("profile") || name === "createTask") continue;
    method.call(console, name === "assert" ? false : "[" + name + "]", ...(name === "dir" || name === "table" ? [] : ["more"]));
  }
  console.table([{ a: 1 }]);
  console.time("t");
  console.timeLog("t");
  console.timeEnd("t");
  return "done";
});
await serveStdio(server);
process.exitCode = Object.keys(before).every((name) => before[name] === console[name]) ? 0 : 3;`);
  child.process.stdin.end(call(1, "print"));
  expect(await child.exited).toBe(0);
  expect(idsIn(child.out())).toEqual([1]);
  for (const name of ["log", "info", "debug", "dir", "dirxml", "table", "group", "groupCollapsed", "count", "error"]) {
    expect(child.err()).toContain(`[${name}]`);
  }
});

test("case 69: what was received before the end of stdin is answered, a last line without its line end too", async () => {
  const child = start(`${begin}
server.tool("slow", {}, () => new Promise((resolve) => setTimeout(resolve, 600, "done")));
await serveStdio(server);`);
  child.process.stdin.end(`${call(1, "slow")}\uFEFF${call(2, "hello").trimEnd()}`);
  expect(await child.exited).toBe(0);
  expect(idsIn(child.out())).toEqual([2, 1]);
  expect(child.err()).toBe("");
});

test("case 69: an answer that fills the pipe is written to its end before the process exits", async () => {
  const child = start(`${begin}
server.tool("long", {}, () => "x".repeat(3_000_000));
await serveStdio(server);
process.exit();`);
  child.process.stdin.end(call(1, "long"));
  expect(await child.exited).toBe(0);
  expect(JSON.parse(child.out()).result.content[0].text).toHaveLength(3_000_000);
});

test("case 68: a reader that closes stdout ends the process quietly, and nothing more is begun", async () => {
  const child = start(`${begin}
server.tool("again", {}, () => "Hello again.");
server.tool("effect", {}, () => {
  console.error("the effect ran");
  return "done";
});
await serveStdio(server);`);
  child.process.stdin.on("error", () => undefined);
  child.process.stdin.write(call(1, "hello"));
  await new Promise<void>((resolve) => child.process.stdout.once("data", () => resolve()));
  child.process.stdout.destroy();
  child.process.stdin.write(call(2, "again") + call(3, "hello"));
  await new Promise((resolve) => setTimeout(resolve, 300));
  child.process.stdin.write(call(4, "effect"));
  expect(await child.exited).toBe(0);
  expect(child.err()).toBe("");
});

test.each([
  [
    "an older client",
    `${JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "older", version: "1.0.0" } },
    })}\n`,
  ],
  ["a client of this revision", call(1, "hello")],
])("F9: whatever else is open, the serving of %s ends with its input", async (_, first) => {
  const child = start(`${begin}
import { serveBothOverStdio } from ${url("examples/older-clients/both.ts")};
setInterval(() => undefined, 1_000);
process.stdin.once("end", () => console.error("input ended"));
await serveBothOverStdio(server);
console.error("serving ended");
process.exit(0);`);
  child.process.stdin.write(first);
  await new Promise<void>((resolve) => child.process.stdout.once("data", () => resolve()));
  expect(child.err()).toBe("");
  child.process.stdin.end();
  expect(await child.exited).toBe(0);
  expect(child.err()).toBe("input ended\nserving ended\n");
});
