import { isObject, VolleyError } from "../protocol/index.ts";
import { keyringFromEnv } from "../state/index.ts";
import type { Command } from "./command.ts";

const help = `Usage: volley keys [--states]

Lists the ids of the keys in VOLLEY_KEYS, in order, and says which seals. The keys themselves are not shown.

  --states    count the states on the standard input by the key that sealed them, one a line: a requestState from a log
              of requests, or a server's trace event "state_opened" as JSON, which also says when it was sealed

  jq -r '.params.requestState // empty' requests.jsonl | volley keys --states
  volley keys --states < trace.jsonl

When a state was sealed only the server can tell that opens it: all but the key's id is sealed. In a server:

  createServer({ trace: (event) => appendFileSync("trace.jsonl", JSON.stringify(event) + "\\n"), ... })

A key that seals nothing and whose states no longer come may go, once the times that \`volley keygen --help\` names have
passed.
`;

export const keys: Command = {
  summary: "list the ids of the keys in VOLLEY_KEYS, and count states by them",
  help,
  options: { states: { type: "boolean" } },
  async run({ out, env, lines }, { states }) {
    const keyring = keyringFromEnv(env.VOLLEY_KEYS);
    if (keyring === undefined) {
      throw new VolleyError("keys_missing", "VOLLEY_KEYS is not set: `volley keygen` makes a key for it.");
    }
    const uses = new Map(keyring.kids.map((kid, index) => [kid, index === 0 ? "seals and opens" : "opens"]));
    if (states !== true) {
      out.write(table([["key", "use"], ...uses]));
      return;
    }
    const { byKid, others } = await count(lines());
    const row = (kid: string, use: string): string[] => {
      const { states, oldest, newest } = byKid.get(kid) ?? NONE;
      return [kid, use, String(states), showTime(oldest), showTime(newest)];
    };
    const unknown = [...byKid.keys()].filter((kid) => !uses.has(kid));
    out.write(
      table([
        ["key", "use", "states", "oldest sealed", "newest sealed"],
        ...[...uses].map(([kid, use]) => row(kid, use)),
        ...unknown.map((kid) => row(kid, "none")),
        ...(others === 0 ? [] : [["-", "no state", String(others)]]),
      ]),
    );
  },
};

/** The states of one key; times are infinite where none is known. */
interface Seen {
  states: number;
  oldest: number;
  newest: number;
}

const NONE: Seen = { states: 0, oldest: Number.POSITIVE_INFINITY, newest: Number.NEGATIVE_INFINITY };

/** What each key sealed, and how many lines hold something else. */
async function count(lines: AsyncIterable<string>): Promise<{ byKid: Map<string, Seen>; others: number }> {
  const byKid = new Map<string, Seen>();
  let others = 0;
  for await (const line of lines) {
    const found = read(line.trim());
    if (found === "nothing") continue;
    if (found === "other") {
      others += 1;
      continue;
    }
    const seen = byKid.get(found.kid) ?? { ...NONE };
    byKid.set(found.kid, seen);
    seen.states += 1;
    seen.oldest = Math.min(seen.oldest, found.sealedAt ?? seen.oldest);
    seen.newest = Math.max(seen.newest, found.sealedAt ?? seen.newest);
  }
  return { byKid, others };
}

/** What a line tells of a state; other events of a trace tell nothing. */
function read(text: string): { readonly kid: string; readonly sealedAt?: number } | "nothing" | "other" {
  if (text === "") return "nothing";
  const kid = /^v1\.([\w-]{8})\.[\w-]+$/.exec(text)?.[1];
  if (kid !== undefined) return { kid };
  let event: unknown;
  try {
    event = JSON.parse(text);
  } catch {
    return "other";
  }
  if (!isObject(event) || typeof event.type !== "string") return "other";
  const { type, kid: id, sealedAt } = event;
  if (type !== "state_opened" || typeof id !== "string") return "nothing";
  return typeof sealedAt === "number" ? { kid: id, sealedAt } : { kid: id };
}

function showTime(time: number): string {
  return Number.isFinite(time) ? new Date(time).toISOString().replace(/\.\d+Z$/, "Z") : "";
}

function table(rows: readonly (readonly string[])[]): string {
  const columns = Math.max(...rows.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  const lines = rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  "));
  return lines.map((line) => `${line.trimEnd()}\n`).join("");
}
