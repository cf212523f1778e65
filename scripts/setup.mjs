// Makes a fresh clone ready: npm packages, and with --tests the real programs that tests drive. Runs before `npm start`
// and `npm test` on whatever Node the machine has (20 or newer), so it uses no package and no TypeScript.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { isInstalled, missingNeeds, notRun } from "./needs.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** @param {string} line */
function say(line) {
  console.log(`setup: ${line}`);
}

/**
 * @param {string} command
 * @param {string[]} args
 */
function run(command, args, cwd = root) {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, env, encoding: "utf8" });
  return { ok: status === 0, output: `${stdout ?? ""}${stderr ?? ""}${error?.message ?? ""}`.trim() };
}

/**
 * What differs between package-lock.json and npm's own record of node_modules; undefined when nothing does.
 *
 * @param {string} folder
 * @param {string} program
 */
function packagesDiffer(folder, program) {
  const read = (/** @type {string} */ path) => JSON.parse(readFileSync(join(folder, path), "utf8")).packages;
  if (!existsSync(join(folder, "node_modules/.package-lock.json"))) return "none are installed";
  const wanted = read("package-lock.json");
  const installed = read("node_modules/.package-lock.json");
  for (const [path, { version, optional, devOptional }] of Object.entries(wanted)) {
    if (path === "") continue;
    const found = installed[path]?.version;
    // Optional packages that are absent belong to other platforms.
    if (found === undefined ? !(optional || devOptional) : found !== version) return `${path} is not ${version}`;
  }
  const left = Object.keys(installed).find((path) => !(path in wanted));
  if (left !== undefined) return `${left} is no longer wanted`;
  return existsSync(join(folder, "node_modules/.bin", program)) ? undefined : `${program} is missing`;
}

/**
 * @param {string} folder
 * @param {string} what
 * @param {string} program one of the packages' own
 */
function installPackages(folder, what, program) {
  const difference = packagesDiffer(folder, program);
  if (difference === undefined) return true;
  say(`npm ci for ${what} (${difference}) ...`);
  const npm = process.env.npm_execpath;
  const { ok, output } = npm?.endsWith(".js") ? run(process.execPath, [npm, "ci"], folder) : run("npm", ["ci"], folder);
  if (!ok)
    console.error(
      output
        .split("\n")
        .filter((line) => !line.startsWith("npm warn"))
        .slice(0, 20)
        .join("\n"),
    );
  say(ok ? `${what} are installed` : "npm ci failed, see above; is the npm registry reachable?");
  return ok;
}

/** Apart from the others, because they are large and nothing but their tests needs them. */
function installRuntimes() {
  const folder = join(root, "test/runtimes/programs");
  if (installPackages(folder, "Bun, Deno and workerd", "workerd")) return true;
  say("not run: test/runtimes on Bun, Deno and workerd");
  return process.env.CI !== "true";
}

/** Installs with apt-get where that is possible; true when nothing is missing afterwards, or may be missing here. */
function installPrograms() {
  const packages = missingNeeds().map((need) => need.debian);
  if (packages.length > 0 && process.getuid?.() === 0 && isInstalled("apt-get")) {
    say(`apt-get install ${packages.join(" ")} ...`);
    const install = () => run("apt-get", ["install", "-y", "-q", "--no-install-recommends", ...packages]);
    let result = install();
    // The package lists may be old, or were never fetched.
    if (!result.ok && run("apt-get", ["update", "-q"]).ok) result = install();
    if (!result.ok) console.error(result.output);
    say(result.ok ? `${packages.join(", ")} installed` : "apt-get failed, see above");
  }
  const missing = missingNeeds();
  for (const need of missing) say(notRun(need));
  return missing.length === 0 || process.env.CI !== "true";
}

const installTests = () => installRuntimes() && installPrograms();
const ok = installPackages(root, "npm packages", "node") && (!process.argv.includes("--tests") || installTests());
process.exitCode = ok ? 0 : 1;
