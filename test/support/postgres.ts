import { type ChildProcess, execFileSync } from "node:child_process";
import { chownSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { endProgram, freePort, type PrivateServer, pathOf, startProgram } from "./private-server.ts";

/**
 * Starts a PostgreSQL whose superuser `volley` needs no password.
 *
 * It writes everything it has acknowledged, so that it survives being killed, but does not wait for the disk.
 *
 * @param args more of its settings, such as `["-c", "max_connections=20"]`
 */
export async function startPostgres(args: readonly string[] = []): Promise<PrivateServer> {
  const folder = await mkdtemp(join(tmpdir(), "volley-postgres-"));
  const port = String(await freePort());
  const user = otherUser();
  if (user !== undefined) chownSync(folder, user.uid, user.gid);
  const data = join(folder, "data");
  const create = ["-D", data, "-U", "volley", "--auth=trust", "--encoding=UTF8", "--no-locale", "--no-sync"];
  execFileSync(pathOf("initdb"), create, { stdio: ["ignore", "ignore", "inherit"], cwd: "/", ...user });
  const settings = ["-D", data, "-p", port, "-h", "127.0.0.1", "-k", folder, "-c", "fsync=off"];
  let child: ChildProcess | undefined;
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    await endProgram(child, signal);
    child = undefined;
  };
  const server: PrivateServer = {
    url: `postgres://volley@127.0.0.1:${port}/postgres`,
    async start() {
      if (child !== undefined) return;
      const ready = /ready to accept connections/;
      child = await startProgram({ path: pathOf("postgres"), args: [...settings, ...args], ready, user });
    },
    stop: () => end("SIGINT"),
    // Its immediate shutdown: nothing is written any more, and the next start recovers as after a crash.
    kill: () => end("SIGQUIT"),
    async remove() {
      await server.kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
  await server.start();
  return server;
}

/** PostgreSQL refuses to run as root: then it runs as the user that its package made. */
function otherUser(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const id = (flag: string): number => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }));
  return { uid: id("-u"), gid: id("-g") };
}
