import { Console } from "node:console";

// What writes to standard output, and what belongs to it: a group opened on one console is not closed on another.
const METHODS = [
  "log",
  "info",
  "debug",
  "dir",
  "dirxml",
  "table",
  "group",
  "groupCollapsed",
  "groupEnd",
  "count",
  "countReset",
  "time",
  "timeLog",
  "timeEnd",
] as const;

/** Standard output belongs to the protocol: what authors print goes to standard error until the returned function is called. */
export function keepStdoutClean(): () => void {
  const { stderr } = process;
  const quiet = new Console({ stdout: stderr, stderr });
  const before = Object.fromEntries(METHODS.map((name) => [name, console[name]]));
  for (const name of METHODS) console[name] = quiet[name];
  return () => Object.assign(console, before);
}
