// Real programs, beyond the npm packages, that a part of `npm test` drives. One line a program: setup.mjs installs what
// is missing where it may, and the rest is listed as not run. No package and no TypeScript here: see setup.mjs.
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/**
 * @typedef {object} Need
 * @property {string} name      what it is, for people
 * @property {string} program   the file looked for on PATH and in /usr/sbin
 * @property {string} debian    the Debian package that holds it
 * @property {string} usedBy    what cannot run without it
 */

/** @type {readonly Need[]} */
export const needs = [
  { name: "wrk, a load generator", program: "wrk", debian: "wrk", usedBy: "bench" },
  { name: "script, a pseudo terminal", program: "script", debian: "bsdutils", usedBy: "test/demo in a terminal" },
];

/**
 * @param {string} program
 * @returns {boolean}
 */
export function isInstalled(program) {
  return [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin"].some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** @returns {Need[]} */
export function missingNeeds() {
  return needs.filter((need) => !isInstalled(need.program));
}

/**
 * @param {Need} need
 * @returns {string}
 */
export function notRun(need) {
  return `not run: ${need.usedBy} (needs ${need.name}: Debian package ${need.debian})`;
}
