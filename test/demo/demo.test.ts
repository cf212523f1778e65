import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { readOptions } from "../../examples/demo/options.ts";
import { isInstalled } from "../../scripts/needs.mjs";
import { demo, demoInTerminal, instances, PATIENCE_MS } from "./run-demo.ts";

const RESULT = "Bug #4522 resolved as Duplicate of Bug #4301. State set to Resolved and duplicate link created.";
const HELD = "Held on the servers between the rounds: nothing.";

const folder = mkdtempSync(join(tmpdir(), "demo-test-"));
afterAll(() => rmSync(folder, { recursive: true }));

describe("npm start -- --auto", () => {
  test(
    "plays the dialogue over three processes, one of which is killed, and changes the bug once",
    async () => {
      const { code, out, err } = await demo("--auto");
      expect(err).toBe("");
      const served = instances(out);
      expect(served).toHaveLength(4);
      expect(new Set(served).size).toBe(3);
      expect(out.match(/SIGKILL/g)).toHaveLength(1);
      expect(out).toContain(`${served[1]}, which sealed that state, is killed (SIGKILL)`);
      expect(served.slice(2)).not.toContain(served[1]);
      expect(out).toMatch(/^round 3 .* server +\d.* person +\d.* state \d+ bytes$/m);
      const [, ending] = out.split(RESULT);
      expect(ending).toMatch(/^#4522 {2}Bug {2}Resolved, Duplicate of #4301 /m);
      expect(ending).toContain("history: 1\n");
      expect(ending).toContain(HELD);
      expect(out).not.toContain("\u001b");
      expect(code).toBe(0);
    },
    PATIENCE_MS,
  );

  test(
    "--stdio has the same dialogue with one process",
    async () => {
      const { code, out, err } = await demo("--auto", "--stdio");
      expect(err).toBe("");
      expect(instances(out)).toEqual(["tracker", "tracker", "tracker", "tracker"]);
      expect(out).not.toContain("SIGKILL");
      expect(out).toContain(RESULT);
      expect(out).toContain(HELD);
      expect(code).toBe(0);
    },
    PATIENCE_MS,
  );

  test(
    "--db keeps the database, and a second run on it changes nothing and says so",
    async () => {
      const db = join(folder, "kept.db");
      expect((await demo("--stdio", "--db", db)).code).toBe(0);
      const { code, out } = await demo("--stdio", "--db", db);
      expect(out).toContain("Bug #4522 is Resolved already.");
      expect(out).toContain("history: 1\n");
      expect(code).toBe(1);
    },
    PATIENCE_MS,
  );

  test(
    "--port is where clients call; a port that is taken is an error",
    async () => {
      const blocker = createServer().listen(0, "127.0.0.1");
      await new Promise((resolve) => blocker.once("listening", resolve));
      const { port } = blocker.address() as AddressInfo;
      const { code, out, err } = await demo("--port", String(port));
      expect(err).toMatch(new RegExp(`^Port ${port} is in use.*\n$`));
      expect(out).toBe("");
      expect(code).toBe(1);
      await new Promise((resolve) => blocker.close(resolve));
      const free = await demo("--port", String(port));
      expect(free.out).toContain(`http://127.0.0.1:${port}/mcp`);
      expect(free.code).toBe(0);
    },
    PATIENCE_MS,
  );
});

test(
  "--help lists the options",
  async () => {
    const { code, out, err } = await demo("--help");
    expect(err).toBe("");
    for (const option of ["--auto", "--stdio", "--task", "--port", "--db", "--help"]) expect(out).toContain(option);
    expect(code).toBe(0);
  },
  PATIENCE_MS,
);

test(
  "an option that is none is refused in one line",
  async () => {
    const { code, out, err } = await demo("--fast");
    expect(err).toBe("Unknown option '--fast'; `npm start -- --help` lists the options.\n");
    expect(out).toBe("");
    expect(code).toBe(2);
  },
  PATIENCE_MS,
);

test.each([
  [["now"], "Unexpected argument 'now'"],
  [["--port"], "Option '--port <value>' argument missing"],
  [["--port", "http"], '--port must be a number from 0 to 65535, not "http"'],
  [["--port", "70000"], '--port must be a number from 0 to 65535, not "70000"'],
  [["--port", ""], '--port must be a number from 0 to 65535, not ""'],
  [["--stdio", "--port", "3000"], "--stdio has no port: leave one of the two out"],
  [["--task", "--stdio"], "--task needs several processes: leave --stdio out"],
  [["--task", "--db", "kept.db"], "--task keeps no database: leave --db out"],
])("%j is refused", (args, message) => {
  expect(() => readOptions(args)).toThrow(message);
});

describe.runIf(isInstalled("script"))("npm start in a terminal", () => {
  const DOWN = "\u001b[B";

  test(
    "asks there, and asks again for what cannot be used",
    async () => {
      const { code, out } = await demoInTerminal([
        ["How was this bug resolved?", `${DOWN}${DOWN}\r`],
        ["which work item is the original?", "9999\r"],
        ["There is no work item with that id.", "4301\r"],
        ["to Resolved as a duplicate of #4301?", "\r"],
      ]);
      expect(out).toContain(RESULT);
      expect(out.match(/SIGKILL/g)).toHaveLength(1);
      expect(out).toContain("round 5");
      expect(out).toContain(HELD);
      expect(code).toBe(0);
    },
    PATIENCE_MS,
  );

  test(
    "a question may be declined, which changes nothing",
    async () => {
      const { code, out } = await demoInTerminal(
        [
          ["How was this bug resolved?", "\u0003"],
          ["Leave this question?", `${DOWN}\r`],
        ],
        "--stdio",
      );
      expect(out).toContain('The request for "resolution" was declined.');
      expect(out).toContain("history: 0");
      expect(out).not.toContain("[volley]");
      expect(code).toBe(1);
    },
    PATIENCE_MS,
  );
});
