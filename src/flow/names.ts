/// <reference lib="es2024.string" />
import { VolleyError } from "../protocol/index.ts";

/**
 * What an author may name a thing: every store can keep it, and it is none of those that begin with `$`, Volley's own.
 *
 * @throws VolleyError `invalid_options`
 */
export function checkName(name: unknown): void {
  if (typeof name === "string" && name !== "" && name[0] !== "$" && name.isWellFormed()) return;
  const shown = typeof name === "string" ? JSON.stringify(name.toWellFormed()) : String(name);
  throw new VolleyError(
    "invalid_options",
    `${shown} cannot be a name: give a string that is not empty, begins with no "$", and is well-formed Unicode.`,
  );
}
