import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const guide = readFileSync(`${root}docs/guarantees.md`, "utf8");

test("each test and each command that a promise names is there", () => {
  const paths = [...guide.matchAll(/\btest\/[\w/.-]*\w/g)].map(([path]) => path);
  expect(new Set(paths).size).toBeGreaterThan(15);
  expect(paths.filter((path) => !existsSync(root + path))).toEqual([]);
  const { scripts } = JSON.parse(readFileSync(`${root}package.json`, "utf8")) as { readonly scripts: object };
  const commands = [...guide.matchAll(/`npm run ([\w:]+)/g)].map(([, name]) => name ?? "");
  expect(new Set(commands)).toEqual(new Set(["simulate", "fleet"]));
  expect(commands.filter((name) => !Object.hasOwn(scripts, name))).toEqual([]);
});

test("each letter that stands for a command has one", () => {
  const letters = guide.matchAll(/^\|.*\| ([A-Z](?:, [A-Z`].*)?|[A-Z]) \|$/gm);
  const used = [...letters].flatMap(([, list = ""]) => list.split(", ").filter((part) => /^[A-Z]$/.test(part)));
  const explained = [...guide.matchAll(/\*\*([A-Z])\*\* `/g)].map(([, letter]) => letter);
  expect([...new Set(used)].sort()).toEqual(explained.sort());
});
