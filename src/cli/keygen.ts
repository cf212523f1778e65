import { generateKey } from "../state/index.ts";
import type { Command } from "./command.ts";

const help = `Usage: volley keygen

Prints a new key for VOLLEY_KEYS. Keep it secret, and give the same keys to every instance of a service.

  export VOLLEY_KEYS=$(volley keygen)

VOLLEY_KEYS is a list, separated by commas: the first key seals, all open. To change keys without breaking rounds that wait:
  1. append the new key on every instance;
  2. then move it to the front on every instance;
  3. remove the old key when nothing that it sealed is needed any more: after the longest time a state may live
     (ttlMs) and, where \`once\` is used, the longest a flow may take (flowMs) and the longest keepFor, since what
     effects left in the ledger is sealed too. Wait five minutes longer, for clocks that differ.

\`volley keys\` shows what VOLLEY_KEYS holds without showing the keys.
`;

export const keygen: Command = {
  summary: "print a new key for VOLLEY_KEYS",
  help,
  run: ({ out }) => {
    out.write(`${generateKey()}\n`);
  },
};
