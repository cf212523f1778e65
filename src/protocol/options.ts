// Settings that do not exist are errors: a misspelt limit is a limit that is not there.
import { VolleyError, type VolleyErrorCode } from "./errors.ts";

/**
 * The names of all options of an interface, or of each member of a union.
 *
 * A table of this type does not compile when the interface gains or loses a member.
 */
export type OptionNames<Options> = Readonly<
  Record<Options extends unknown ? Extract<keyof Options, string> : never, true>
>;

/**
 * Refuses options that do not exist, and what is no object of options.
 *
 * @param owner what has the options, as the author writes it: `createServer`, `tool "add"`
 * @throws VolleyError `code`, with the nearest name or all of them
 */
export function checkOptions(
  owner: string,
  options: unknown,
  known: object,
  code: VolleyErrorCode = "invalid_options",
): void {
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    throw new VolleyError(code, `${owner} takes its options as an object, not ${describeValue(options)}.`);
  }
  for (const name of Object.keys(options)) {
    if (Object.hasOwn(known, name)) continue;
    const near = nearest(name, Object.keys(known));
    const advice = near === undefined ? `It has: ${Object.keys(known).join(", ")}.` : `Did you mean "${near}"?`;
    throw new VolleyError(code, `${owner} has no option ${JSON.stringify(name)}. ${advice}`);
  }
}

/**
 * Refuses options without any of these, of which one is needed.
 *
 * @throws VolleyError `invalid_options`
 */
export function needOption<Options extends object>(
  owner: string,
  options: Options,
  ...names: readonly (Options extends unknown ? keyof Options & string : never)[]
): void {
  const given = options as Readonly<Record<string, unknown>>;
  if (names.some((name) => given[name] !== undefined)) return;
  throw new VolleyError("invalid_options", `${owner} needs ${names.map((name) => `\`${name}\``).join(" or ")}.`);
}

/** What somebody gave instead of what was wanted, for a message to its author. */
export function describeValue(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return "a list";
  if (typeof value === "string") return value === "" ? "an empty string" : "a string";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

/** The name that was probably meant: the beginning of one, or one with a typing error in every three letters at most. */
function nearest(name: string, known: readonly string[]): string | undefined {
  const given = name.toLowerCase();
  let least = Math.max(1, Math.floor(given.length / 3)) + 1;
  let found: string | undefined;
  for (const candidate of known) {
    const other = candidate.toLowerCase();
    const isBeginning = given.length > 2 && (other.startsWith(given) || given.startsWith(other));
    const far = isBeginning ? 1 : distance(given, other);
    if (far >= least) continue;
    least = far;
    found = candidate;
  }
  return found;
}

/** How many letters have to be put in, taken out, changed, or swapped with their neighbour. */
function distance(from: string, to: string): number {
  let before: number[] = [];
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let i = 1; i <= from.length; i++) {
    const above = row;
    row = [i];
    for (let j = 1; j <= to.length; j++) {
      const isSame = from[i - 1] === to[j - 1];
      const swapped = from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      row[j] = Math.min(at(above, j) + 1, at(row, j - 1) + 1, at(above, j - 1) + (isSame ? 0 : 1));
      if (swapped) row[j] = Math.min(at(row, j), at(before, j - 2) + 1);
    }
    before = above;
  }
  return at(row, to.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
