import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { circlesIn, importGraph, sourceGraph, specifiersIn } from "../../../scripts/import-graph.ts";
import { root } from "../../../scripts/run.ts";

/** Which Node built-ins and packages the files of a part may import; the parts and rooms are in AGENTS.md. */
interface Rule {
  readonly builtins?: readonly string[] | "any";
  readonly packages?: readonly string[];
}

const rules: Readonly<Record<string, Rule>> = {
  state: { builtins: ["node:crypto", "node:buffer"], packages: ["canonicalize"] },
  stores: { builtins: ["node:process", "node:sqlite"], packages: ["ioredis"] },
  ledger: { builtins: "any", packages: ["ioredis", "pg"] },
  flow: { builtins: ["node:async_hooks", "node:buffer"] },
  server: { builtins: "any", packages: ["ajv", "ajv-formats", "uri-template-matcher"] },
  events: { builtins: "any", packages: ["ioredis"] },
  telemetry: { packages: ["@opentelemetry/api"] },
  limits: { builtins: "any", packages: ["rate-limiter-flexible", "ioredis", "pg"] },
  tasks: { builtins: "any", packages: ["bullmq", "ioredis", "pg"] },
  bridge: { packages: ["@modelcontextprotocol/server"] },
  client: { builtins: "any", packages: ["ajv", "ajv-draft-04", "ajv-formats", "eventsource-parser", "re2js"] },
  testing: { builtins: "any" },
  cli: { builtins: "any" },
};

const graph = sourceGraph("src");
const files = [...graph.keys()];

/** The part a path under the root belongs to; entry files, straight in src/, are no part and may import everything. */
function partOf(path: string): string {
  const [, folder = "", ...rest] = path.split("/");
  return rest.length === 0 ? "" : folder;
}

/** The room of a file in a part that has rooms, such as `server/http`; `server/*.ts` for the files above them. */
function roomOf(path: string): string {
  const [, part = "", room = ""] = path.split("/");
  return `${part}/${room.endsWith(".ts") ? "*.ts" : room}`;
}

const map = readFileSync(`${root}AGENTS.md`, "utf8");

/** The rows of a table of the map: what each may import, in the order of the table. */
function rowsOf(name: RegExp): Map<string, readonly string[]> {
  const rows = [...map.matchAll(/^\| `([^`]+)` \| .* \| ([^|]+) \|$/gm)].flatMap(([, label = "", imports = ""]) => {
    const [, row] = name.exec(label) ?? [];
    return row === undefined ? [] : [[row, imports === "nothing" ? [] : imports.split(", ")] as const];
  });
  return new Map(rows);
}

const parts = rowsOf(/^src\/(\w+)$/);
const rooms = rowsOf(/^((?!src\/)\w+\/(?:\w+|\*\.ts))$/);
const hasRooms = new Set([...rooms.keys()].map((room) => room.split("/", 1)[0]));

/** What the files of each row really import of other rows, in the order of the table. */
function arrows(rows: ReadonlyMap<string, unknown>, rowOf: (file: string) => string): Map<string, readonly string[]> {
  const found = new Map([...rows.keys()].map((row) => [row, new Set<string>()]));
  for (const [file, targets] of graph) {
    const row = found.get(rowOf(file));
    for (const target of targets.map(rowOf)) if (target !== rowOf(file)) row?.add(target);
  }
  return new Map([...found].map(([row, targets]) => [row, [...rows.keys()].filter((name) => targets.has(name))]));
}

/** Where a table's row names one that does not stand above it. */
function upward(rows: ReadonlyMap<string, readonly string[]>): string[] {
  const order = [...rows.keys()];
  return [...rows].flatMap(([row, targets], index) =>
    targets.filter((target) => !order.slice(0, index).includes(target)).map((target) => `${row} -> ${target}`),
  );
}

test("each part imports the parts that the map in AGENTS.md names, and they stand above it", () => {
  expect(new Set(files.map(partOf))).toEqual(new Set(["", ...parts.keys()]));
  expect(arrows(parts, partOf)).toEqual(parts);
  expect(upward(parts)).toEqual([]);
});

test("each room imports the rooms that the map in AGENTS.md names, and they stand above it", () => {
  const inRooms = files.filter((file) => hasRooms.has(partOf(file)) || file.split("/").length > 3);
  expect(new Set(inRooms.map(roomOf))).toEqual(new Set(rooms.keys()));
  for (const part of hasRooms) {
    const ofPart = new Map([...rooms].filter(([room]) => room.startsWith(`${part}/`)));
    const named = new Map([...ofPart].map(([room, targets]) => [room, targets.map((target) => `${part}/${target}`)]));
    expect(arrows(ofPart, roomOf)).toEqual(named);
    expect(upward(named)).toEqual([]);
  }
});

test("no file is in a circle, types included", () => {
  expect(circlesIn(graph)).toEqual([]);
  const planted = new Map([
    ["a", ["b"]],
    ["b", ["c"]],
    ["c", ["b", "d"]],
    ["d", []],
  ]);
  expect(circlesIn(planted)).toEqual(["b -> c", "c -> b"]);
});

test("files that AGENTS.md names exist", () => {
  const named = [...map.matchAll(/`((?:[\w.-]+\/)+[\w-]+\.(?:ts|mjs|md))`/g)].map(([, path = ""]) => path);
  expect(named.length).toBeGreaterThan(30);
  expect(named.filter((path) => !existsSync(root + path) && !existsSync(`${root}src/${path}`))).toEqual([]);
});

interface Import {
  readonly file: string;
  readonly part: string;
  readonly specifier: string;
  /** The part that a relative specifier leads to. */
  readonly target: string | undefined;
}

const imports = files
  .filter((file) => partOf(file) !== "")
  .flatMap((file) =>
    specifiersIn(file).map((specifier): Import => {
      const target = specifier.startsWith(".") ? partOf(join(dirname(file), specifier)) : undefined;
      return { file, part: partOf(file), specifier, target };
    }),
  );

function isAllowed({ part, specifier, target }: Import): boolean {
  const { builtins = [], packages = [] } = rules[part] ?? {};
  if (target !== undefined) return true;
  if (specifier.startsWith("node:")) return builtins === "any" || builtins.includes(specifier);
  return packages.includes(specifier.replace(/(?<!^@[^/]*)\/.*/, ""));
}

test("each part imports only the built-ins and packages that it may", () => {
  const broken = imports.filter((found) => !isAllowed(found)).map(({ file, specifier }) => `${file}: ${specifier}`);
  expect(broken).toEqual([]);
});

test("a part is imported through its index, the ledger's interface apart", () => {
  const inside = imports
    .filter(({ specifier }) => !specifier.endsWith("../ledger/ledger.ts"))
    .filter(
      ({ part, target, specifier }) =>
        target !== undefined && target !== part && !new RegExp(`\\.\\./${target}/index\\.ts$`).test(specifier),
    )
    .map(({ file, specifier }) => `${file}: ${specifier}`);
  expect(inside).toEqual([]);
});

test("relative imports end in .ts", () => {
  expect(imports.filter(({ target, specifier }) => target !== undefined && !specifier.endsWith(".ts"))).toEqual([]);
});

test("files are short and named in kebab-case", () => {
  const long = files.filter((file) => readFileSync(root + file, "utf8").split("\n").length > 320);
  expect(long).toEqual([]);
  expect(files.filter((file) => !/^src(\/[a-z0-9]+(-[a-z0-9]+)*)+\.ts$/.test(file))).toEqual([]);
});

/** What Node, Bun, Deno and workerd all have. */
const portable = ["node:async_hooks", "node:buffer", "node:crypto"];

test.each(["src/index.ts", "src/client.ts"])(
  "%s loads nothing that other runtimes lack, and no optional library",
  async (entry) => {
    const { files: loaded } = await importGraph(entry);
    const { builtins } = await importGraph(entry, true);
    expect([...builtins].filter(([name]) => !portable.includes(name))).toEqual([]);
    expect(
      loaded.filter((file) =>
        /node_modules\/(ajv|rate-limiter|@opentelemetry|@modelcontextprotocol|ioredis|pg)/.test(file),
      ),
    ).toEqual([]);
  },
);
