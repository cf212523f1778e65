import { VolleyError } from "../protocol/index.ts";
import { keyringFromEnv } from "../state/index.ts";
import type { Command } from "./run.ts";

const help = `Usage: volley keys [--states]

Lists the ids of the keys in VOLLEY_KEYS, in order, and says which seals. The keys themselves are not shown.

  --states    count requestStates by the key that sealed them: one a line on the standard input, from a log, say

  jq -r .params.requestState requests.jsonl | volley keys --states

A state says which key sealed it; when, only the server can tell that serves its request, since everything else in it is
sealed and bound to that request. So count what came in since the key left the front: a key that seals nothing and whose
states no longer come may go, once the times that \`volley keygen --help\` names have passed.
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
    const known = [...uses].map(([kid, use]) => [kid, use, String(byKid.get(kid) ?? 0)]);
    const unknown = [...byKid].filter(([kid]) => !uses.has(kid)).map(([kid, states]) => [kid, "none", String(states)]);
    const rest = others === 0 ? [] : [["-", "no state", String(others)]];
    out.write(table([["key", "use", "states"], ...known, ...unknown, ...rest]));
  },
};

/** How many states each key sealed, and how many lines hold something else. */
async function count(lines: AsyncIterable<string>): Promise<{ byKid: Map<string, number>; others: number }> {
  const byKid = new Map<string, number>();
  let others = 0;
  for await (const line of lines) {
    const text = line.trim();
    if (text === "") continue;
    const kid = /^v1\.([\w-]{8})\.[\w-]+$/.exec(text)?.[1];
    if (kid === undefined) others += 1;
    else byKid.set(kid, (byKid.get(kid) ?? 0) + 1);
  }
  return { byKid, others };
}

function table(rows: readonly (readonly string[])[]): string {
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  "));
  return lines.map((line) => `${line.trimEnd()}\n`).join("");
}
