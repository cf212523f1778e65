import { globSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { expect, test } from "vitest";
import { importGraph } from "../../../scripts/import-graph.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));

/** Which parts, Node built-ins and packages the files of a folder may import. Arrows go one way: see AGENTS.md. */
interface Rule {
  readonly parts: readonly string[];
  readonly builtins?: readonly string[] | "any";
  readonly packages?: readonly string[];
}

const rules: Readonly<Record<string, Rule>> = {
  protocol: { parts: [] },
  elicit: { parts: ["protocol"] },
  state: { parts: ["protocol"], builtins: ["node:crypto", "node:buffer"], packages: ["canonicalize"] },
  stores: { parts: ["protocol"], builtins: ["node:process", "node:sqlite"], packages: ["ioredis"] },
  ledger: { parts: ["protocol", "stores"], builtins: "any", packages: ["ioredis", "pg"] },
  flow: { parts: ["protocol", "elicit", "state", "ledger"], builtins: ["node:async_hooks", "node:buffer"] },
  server: {
    parts: ["protocol", "elicit", "state", "ledger", "flow"],
    builtins: "any",
    packages: ["ajv", "ajv-formats", "uri-template-matcher"],
  },
  events: { parts: ["protocol", "server"], builtins: "any", packages: ["ioredis"] },
  telemetry: { parts: ["protocol", "flow", "server"], packages: ["@opentelemetry/api"] },
  limits: { parts: ["protocol", "server"], builtins: "any", packages: ["rate-limiter-flexible", "ioredis", "pg"] },
  tasks: {
    parts: ["protocol", "state", "flow", "server", "stores"],
    builtins: "any",
    packages: ["bullmq", "ioredis", "pg"],
  },
  bridge: { parts: ["protocol", "state", "server"], packages: ["@modelcontextprotocol/server"] },
  client: {
    parts: ["protocol", "elicit"],
    builtins: "any",
    packages: ["ajv", "ajv-draft-04", "ajv-formats", "eventsource-parser", "re2js"],
  },
  testing: { parts: ["protocol", "elicit", "state", "ledger", "flow", "server", "client"], builtins: "any" },
  cli: { parts: ["protocol", "elicit", "state", "client", "server"], builtins: "any" },
};

interface Import {
  readonly file: string;
  readonly part: string;
  readonly specifier: string;
  /** The part that a relative specifier leads to. */
  readonly target: string | undefined;
}

const files = globSync("src/**/*.ts", { cwd: root }).sort();

/** The part a path under the root belongs to; entry files, straight in src/, are no part and may import everything. */
function partOf(path: string): string {
  const [, folder = "", ...rest] = path.split("/");
  return rest.length === 0 ? "" : folder;
}

function readImports(file: string): Import[] {
  const { importedFiles } = ts.preProcessFile(readFileSync(join(root, file), "utf8"));
  return importedFiles.map(({ fileName: specifier }) => ({
    file,
    part: partOf(file),
    specifier,
    target: specifier.startsWith(".") ? partOf(relative(root, join(root, dirname(file), specifier))) : undefined,
  }));
}

function isAllowed({ part, specifier, target }: Import): boolean {
  const rule = rules[part];
  if (rule === undefined) return false;
  if (target !== undefined) return target === part || rule.parts.includes(target);
  if (specifier.startsWith("node:")) return rule.builtins === "any" || (rule.builtins ?? []).includes(specifier);
  return (rule.packages ?? []).includes(specifier.replace(/(?<!^@[^/]*)\/.*/, ""));
}

const imports = files.filter((file) => partOf(file) !== "").flatMap(readImports);

test("each part imports only what it may know", () => {
  const broken = imports.filter((found) => !isAllowed(found)).map(({ file, specifier }) => `${file}: ${specifier}`);
  expect(broken).toEqual([]);
});

test("a part is imported through its index, the ledger's interface apart", () => {
  const inside = imports
    .filter(({ specifier }) => specifier !== "../ledger/ledger.ts")
    .filter(
      ({ part, target, specifier }) => target !== undefined && target !== part && !specifier.endsWith("/index.ts"),
    )
    .map(({ file, specifier }) => `${file}: ${specifier}`);
  expect(inside).toEqual([]);
});

test("relative imports end in .ts", () => {
  expect(imports.filter(({ target, specifier }) => target !== undefined && !specifier.endsWith(".ts"))).toEqual([]);
});

test("files are short and named in kebab-case", () => {
  const long = files.filter((file) => readFileSync(join(root, file), "utf8").split("\n").length > 320);
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
