// `npm run -s trace`: for each row of docs/requirements.md that is in scope, the tests whose names carry its id. Exits
// with 1 when a row has none. Cases are listed too. `--brief` prints what is missing and the count alone.
import { globSync, readFileSync } from "node:fs";
import { root } from "./run.ts";

interface Row {
  readonly id: string;
  readonly inScope: boolean;
}

/** `| S7 | MUST | now | ... |`, and `| 23 | now | ... |` which becomes `case 23`. */
function readRows(markdown: string): Row[] {
  const rows = markdown.matchAll(/^\| (?:([A-Z]\d+) \| [A-Z /]+|(\d+)) \| (now|later) \|/gm);
  return [...rows].map(([, id, number, scope]) => ({ id: id ?? `case ${number}`, inScope: scope === "now" }));
}

/** Titles of `test`, `it` and `describe`, with what follows them as in `test.each(...)(`, but not those that are skipped. */
function readTitles(code: string): string[] {
  const calls = code.matchAll(/\b(?:test|it|describe)((?:\.\w+(?:\([^()]*\))?)*)\(\s*(["'`])((?:\\.|(?!\2)[^\\])*)\2/g);
  return [...calls].flatMap(([, modifiers, , title]) => (/\.(?:skip|todo)/.test(modifiers ?? "") ? [] : (title ?? "")));
}

/** The ids in a title: `S7`, `S7, S8`, `S10-S12`, `case 23`, `cases 36-38, 40`. */
function readIds(title: string): string[] {
  const range = (prefix: string, first: string, last = first): string[] =>
    Array.from({ length: Number(last) - Number(first) + 1 }, (_, index) => `${prefix}${Number(first) + index}`);
  const rows = [...title.matchAll(/\b([SCHTVX])(\d+)(?:-\1?(\d+))?\b/g)];
  const cases = [...title.matchAll(/\bcases? (\d+(?:-\d+)?(?:(?:, | and )\d+(?:-\d+)?\b)*)/g)];
  return [
    ...rows.flatMap(([, prefix = "", first = "", last]) => range(prefix, first, last)),
    ...cases.flatMap(([, list = ""]) =>
      list.split(/, | and /).flatMap((part) => {
        const [first = "", last] = part.split("-");
        return range("case ", first, last);
      }),
    ),
  ];
}

const tests = new Map<string, Set<string>>();
for (const file of globSync("test/**/*.test.ts", { cwd: root }).sort()) {
  for (const title of readTitles(readFileSync(root + file, "utf8"))) {
    for (const id of readIds(title)) tests.set(id, (tests.get(id) ?? new Set()).add(`${file}  ${title}`));
  }
}

const rows = readRows(readFileSync(`${root}docs/requirements.md`, "utf8"));
const brief = process.argv.includes("--brief");
const unnamed: string[] = [];
for (const { id, inScope } of rows) {
  const found = tests.get(id);
  if (!inScope && found === undefined) continue;
  if (!brief)
    console.log([`${id}${inScope ? "" : " (later)"}: ${found?.size ?? "no test"}`, ...(found ?? [])].join("\n  "));
  if (inScope && found === undefined) unnamed.push(id);
}
const known = new Set(rows.map((row) => row.id));
const unknown = [...tests.keys()].filter((id) => !known.has(id));
if (unknown.length > 0) console.log(`in test names, but no row: ${unknown.join(", ")}`);
const inScope = rows.filter((row) => row.inScope).length;
console.log(`${inScope - unnamed.length} of ${inScope} rows and cases in scope have tests`);
if (unnamed.length > 0) console.log(`no test names ${unnamed.join(", ")}`);
if (unnamed.length > 0) process.exitCode = 1;
