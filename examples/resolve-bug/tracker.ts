// A stand-in for somebody's issue tracker: bugs in memory, and what was done to them.
import { ToolError } from "../../src/index.ts";

interface Bug {
  readonly title: string;
  state: "open" | "closed";
  resolution?: string;
  duplicateOf?: number;
}

const bugs = new Map<number, Bug>([
  [4301, { title: "Login page is blank in Safari", state: "open" }],
  [4522, { title: "Cannot sign in with Safari 18", state: "open" }],
]);

function load(id: number): Bug {
  const bug = bugs.get(id);
  if (bug === undefined) throw new ToolError(`There is no bug #${id}.`);
  return bug;
}

function close(id: number, resolution: string, duplicateOf?: number): void {
  Object.assign(load(id), { state: "closed", resolution, duplicateOf });
}

export const tracker = { load, close };
