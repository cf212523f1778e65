import { describe, expect, test } from "vitest";
import { isInstalled } from "../../scripts/needs.mjs";
import { demo, demoInTerminal, instances, PATIENCE_MS } from "./run-demo.ts";

/** What is said at the end of a run in which everything was as it should be. */
function expectAllDone(out: string): void {
  const worker = /^platform (deploy-\d) \(pid (\d+)\) begins "start"$/m.exec(out);
  const [, killed, pid] = worker ?? [];
  expect(out).toContain(`killed worker pid ${pid} (SIGKILL): ${killed}, in the middle of "start"`);
  expect(out.match(/SIGKILL/g)).toHaveLength(1);
  expect(out.match(/ asks while deploy-\d goes on with "copy"$/gm)).toHaveLength(1);
  for (const step of ["build", "copy", "start", "check"]) {
    expect(out.match(new RegExp(`has done "${step}"`, "g"))).toHaveLength(1);
    expect(out.match(new RegExp(`begins "${step}"`, "g"))).toHaveLength(step === "start" ? 2 : 1);
  }
  const finisher = /^platform (deploy-\d) .* has done "check"$/m.exec(out)?.[1];
  expect(finisher).not.toBe(killed);
  expect(out).toContain(`yes  Killed: ${killed}; finished by ${finisher}`);
  expect(out.match(/^yes {2}/gm)).toHaveLength(5);
  expect(out).not.toMatch(/^NO /m);
}

describe("npm start -- --task", () => {
  test(
    "T6, T7, T10: --auto deploys by a task whose worker is killed, every step done once",
    async () => {
      const { code, out, err } = await demo("--task", "--auto");
      expect(err).toBe("");
      expect(new Set(instances(out)).size).toBe(3);
      expect(out.match(/^task {5}[\w-]{43}: the client may leave now$/gm)).toHaveLength(1);
      expect(out).toMatch(/^task {5}█{4}░{16} {2}input_required {2}1 of 5, copies the image to Frankfurt$/m);
      expect(out).toMatch(/^task {5}█{20} {2}completed$/m);
      expectAllDone(out);
      expect(out).toContain("\nshop 2.1 runs in Frankfurt; released to 10 %.\n");
      expect(out).not.toContain("\u001b");
      expect(code).toBe(0);
    },
    PATIENCE_MS,
  );

  test.runIf(isInstalled("script"))(
    "asks in a terminal, also while the task runs",
    async () => {
      const { code, out } = await demoInTerminal(
        [
          ["Where is shop 2.1 to run?", "\u001b[B\r"],
          ["Deploy shop 2.1 to Oregon?", "\r"],
          ["Who is to get shop 2.1 first?", "\r"],
        ],
        "--task",
      );
      expectAllDone(out.replaceAll("\r\n", "\n"));
      expect(out).toContain("shop 2.1 runs in Oregon; released to 1 %.");
      expect(code).toBe(0);
    },
    PATIENCE_MS,
  );

  test.runIf(isInstalled("script"))(
    "a question of the task may be declined, which releases nothing and is told",
    async () => {
      const { code, out } = await demoInTerminal(
        [
          ["Where is shop 2.1 to run?", "\r"],
          ["Deploy shop 2.1 to Frankfurt?", "\r"],
          ["Who is to get shop 2.1 first?", "\u0003"],
          ["Leave this question?", "\u001b[B\r"],
        ],
        "--task",
      );
      expect(out).toContain('The request for "share" was declined.');
      expect(out).toContain("NO   Releases of shop 2.1: 0");
      expect(code).toBe(1);
    },
    PATIENCE_MS,
  );
});
