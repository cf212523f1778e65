import type { Answer } from "../answers.ts";
import { startCluster } from "../cluster.ts";
import { showEnding } from "../show.ts";
import { APP, type Deployed, deployApp, SERVER } from "./dialogue.ts";
import { openPlatform, type Platform } from "./platform.ts";
import { showCheck, showDeployers } from "./show.ts";

const STEPS = ["build", "copy", "start", "check"];

/** An app is deployed by a task whose worker is killed. True when all of it happened, and nothing twice. */
export async function deploy(db: string, port: number, answer: Answer): Promise<boolean> {
  const platform = openPlatform(db, "client");
  const cluster = await startCluster({ program: SERVER, args: ["--db", db], name: "deploy", size: 3, port });
  try {
    showDeployers(cluster, db);
    const deployed = await deployApp(cluster, platform, answer);
    showEnding(deployed.ending);
    return verify(platform, deployed);
  } finally {
    cluster.close();
    platform.close();
  }
}

/** Holds what the client was told against the platform's own log. */
function verify(platform: Platform, { ending, meanwhile, killed }: Deployed): boolean {
  const log = platform.log();
  const done = log.filter((work) => work.done);
  const cut = log.filter((work) => !work.done);
  const finisher = done.at(-1)?.by;
  const releases = platform.releases();
  const checks: readonly (readonly [text: string, holds: boolean])[] = [
    [
      `Each step was done once: ${done.map(({ name, by }) => `${name} (${by})`).join(", ")}`,
      done.map(({ name }) => name).join() === STEPS.join(),
    ],
    [
      `None was begun again but the one that was cut off: ${cut.map(({ name, by }) => `${name} (${by})`).join(", ")}`,
      cut.length === 1 && cut[0]?.by === killed,
    ],
    [`The task asked while this went on: ${meanwhile.join(", ")}`, meanwhile.join() === "copy"],
    [`Killed: ${killed}; finished by ${finisher}`, killed !== undefined && finisher !== killed],
    [`Releases of ${APP}: ${releases.length}`, !ending.isError && releases.length === 1 && releases[0]?.app === APP],
  ];
  for (const [text, holds] of checks) showCheck(text, holds);
  return checks.every(([, holds]) => holds);
}
