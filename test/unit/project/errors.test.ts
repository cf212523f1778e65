import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const read = (path: string): string => readFileSync(root + path, "utf8");
const guide = read("docs/errors.md");

test("the guide to errors shows what its example does", () => {
  const blocks = [...guide.matchAll(/^```ts\n(.*?)^```/gms)].map(([, block]) => block ?? "");
  expect(blocks).toHaveLength(1);
  for (const block of blocks) expect(read("examples/resolve-bug/tracker.ts")).toContain(block);
});

test("the guide to errors has each sentence that callers hear, and each event for operators", () => {
  const sentences = [...read("src/server/error-policy.ts").matchAll(/^ *(?:\["\w+", )?"([A-Z][^"]*\.)"/gm)];
  expect(sentences.length).toBeGreaterThanOrEqual(8);
  for (const [, sentence = ""] of sentences) expect(guide).toContain(sentence);
  const events = [...read("src/server/report.ts").matchAll(/case "(\w+)":/g)];
  expect(events).toHaveLength(5);
  for (const [, type = ""] of events) expect(guide).toContain(`\`${type}\``);
});
