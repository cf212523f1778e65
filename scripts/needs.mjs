// Real programs, beyond the npm packages, that a part of `npm test` drives. One line a program: setup.mjs installs what
// is missing where it may, and the rest is listed as not run. No package and no TypeScript here: see setup.mjs.
import { accessSync, constants, readdirSync } from "node:fs";
import { delimiter, join } from "node:path";

/**
 * @typedef {object} Need
 * @property {string} name      what it is, for people
 * @property {string} program   the file looked for, see findProgram
 * @property {string} debian    the Debian package that holds it
 * @property {string} usedBy    what cannot run without it
 */

/** @type {readonly Need[]} */
export const needs = [
  { name: "wrk, a load generator", program: "wrk", debian: "wrk", usedBy: "bench" },
  { name: "script, a pseudo terminal", program: "script", debian: "bsdutils", usedBy: "test/demo in a terminal" },
  { name: "Redis", program: "redis-server", debian: "redis-server", usedBy: "tests of stores and the bus on Redis" },
  { name: "PostgreSQL", program: "initdb", debian: "postgresql", usedBy: "tests of stores on Postgres" },
  { name: "nginx", program: "nginx", debian: "nginx", usedBy: "test/fleet" },
];

/** Where Debian keeps the programs of its PostgreSQL, one folder a version, the newest last. */
function postgresFolders() {
  const root = "/usr/lib/postgresql";
  try {
    const versions = readdirSync(root).sort((a, b) => Number(a) - Number(b));
    return versions.map((version) => join(root, version, "bin"));
  } catch {
    return [];
  }
}

/**
 * The program's path: on PATH, in /usr/sbin, or where Debian keeps PostgreSQL, in the newest version.
 *
 * @param {string} program
 * @returns {string | undefined}
 */
export function findProgram(program) {
  const folders = [...postgresFolders().reverse(), ...(process.env.PATH ?? "").split(delimiter), "/usr/sbin"];
  return folders
    .map((folder) => join(folder, program))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

/**
 * @param {string} program
 * @returns {boolean}
 */
export function isInstalled(program) {
  return findProgram(program) !== undefined;
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
