/// <reference lib="es2024.string" />
import { VolleyError } from "../protocol/index.ts";

/**
 * What an author may name a thing: stores of all kinds keep names, and those that begin with `$` are Volley's own.
 *
 * @throws VolleyError `invalid_options`
 */
export function checkName(name: unknown): void {
  if (typeof name === "string" && /^[^$]/.test(name) && !name.includes("\0") && name.isWellFormed()) return;
  const shown = typeof name === "string" ? JSON.stringify(name.toWellFormed()) : String(name);
  throw new VolleyError(
    "invalid_options",
    `${shown} cannot be a name: give a string that is not empty, begins with no "$", and is well-formed Unicode without U+0000.`,
  );
}
