import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { call, expectThat, send } from "./cases.ts";
import { startContestant } from "./lib/process.ts";
import { atMost, type Report, type Settings, short, showRatio, type Table } from "./lib/report.ts";
import { alternate, ratio, spread } from "./lib/stats.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const SERVER = ["volley-mcp", "@modelcontextprotocol/server"] as const;
const CLIENT = ["volley-mcp/client", "@modelcontextprotocol/client"] as const;
const SERVERS = ["volley", "floor", "official"];

interface Loaded {
  readonly files: number;
  readonly bytes: number;
  readonly gzip: number;
}

/** How long an import takes and what it loads, and how long a new process needs for its first answer. */
export async function start(settings: Settings): Promise<Report> {
  const times = settings.quick ? 3 : 7;
  const specifiers: readonly string[] = [...SERVER, ...CLIENT];
  settings.progress("start: imports");
  const imports = await alternate(specifiers, times, importMs);
  const loaded = await Promise.all(specifiers.map(load));
  settings.progress("start: first answers");
  const answers = await alternate(SERVERS, times, firstAnswerMs);
  const of = (specifier: string): readonly number[] => imports[specifiers.indexOf(specifier)] ?? [];
  const bytes = (specifier: string): number => loaded[specifiers.indexOf(specifier)]?.bytes ?? Number.NaN;
  const [mine, theirs] = SERVER;
  return {
    tables: [
      {
        title: "import in a new process",
        columns: ["package", "ms", "files loaded", "KiB", "KiB, gzip"],
        rows: specifiers.map((specifier, index) => [
          specifier,
          showRatio(spread(of(specifier))),
          String(loaded[index]?.files),
          kib(loaded[index]?.bytes),
          kib(loaded[index]?.gzip),
        ]),
      },
      firstAnswers(answers),
      packed(),
    ],
    charts: [],
    checks: [
      atMost(`import of ${mine}, time / ${theirs}'s`, 0.5, ratio(of(mine), of(theirs)).median),
      atMost(`import of ${mine}, bytes loaded / ${theirs}'s`, 0.2, bytes(mine) / bytes(theirs)),
    ],
    data: { imports: Object.fromEntries(specifiers.map((name, i) => [name, imports[i]])), loaded, answers },
  };
}

async function importMs(specifier: string): Promise<number> {
  const child = await startContestant("start/import.mjs", { specifier });
  await child.stop();
  return (child.ready as { readonly ms: number }).ms;
}

async function load(specifier: string): Promise<Loaded> {
  const child = await startContestant("start/import.mjs", { specifier, files: true });
  await child.stop();
  const texts = (child.ready as readonly { readonly text: string }[]).map(({ text }) => text);
  const all = texts.join("\n");
  return { files: texts.length, bytes: Buffer.byteLength(all), gzip: gzipSync(all).length };
}

async function firstAnswerMs(name: string): Promise<number> {
  const server = await startContestant(`start/${name}.mjs`);
  const listening = performance.now();
  try {
    const { port } = server.ready as { readonly port: number };
    const result = await send(`http://127.0.0.1:${port}/mcp`, call("2026-07-28", "add", { a: 40, b: 2 }));
    expectThat(result.content?.[0]?.text === "42", "40 + 2 is 42", result);
    return server.startMs + performance.now() - listening;
  } finally {
    await server.stop();
  }
}

function firstAnswers(answers: readonly (readonly number[])[]): Table {
  return {
    title: "from the start of the process to its first answer",
    columns: ["server", "ms"],
    rows: SERVERS.map((name, index) => [name, showRatio(spread(answers[index] ?? []))]),
  };
}

function packed(): Table {
  const output = run("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"]);
  const [info] = JSON.parse(output) as readonly { size: number; unpackedSize: number; entryCount: number }[];
  return {
    title: "the package",
    columns: ["", "KiB"],
    rows: [
      ["packed", kib(info?.size)],
      [`unpacked, ${info?.entryCount} files`, kib(info?.unpackedSize)],
    ],
  };
}

function kib(bytes: number | undefined): string {
  return bytes === undefined ? "-" : short(bytes / 1024);
}

function run(command: string, args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: ROOT, encoding: "utf8" });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} failed:\n${stdout}${stderr}`);
  return stdout;
}
