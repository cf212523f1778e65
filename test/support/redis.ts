import type { ChildProcess } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { endProgram, freePort, type PrivateServer, pathOf, startProgram } from "./private-server.ts";

/**
 * Starts a Redis that keeps everything it has acknowledged, also when it is killed: with its default `everysec` it writes
 * later while the disk is busy.
 *
 * @param args more of its settings, such as `["--maxmemory-policy", "allkeys-lru"]`
 */
export async function startRedis(args: readonly string[] = []): Promise<PrivateServer> {
  const folder = await mkdtemp(join(tmpdir(), "volley-redis-"));
  const port = String(await freePort());
  const place = ["--bind", "127.0.0.1", "--port", port, "--dir", folder];
  const keeping = ["--save", "", "--appendonly", "yes", "--appendfsync", "always"];
  let child: ChildProcess | undefined;
  const server: PrivateServer = {
    url: `redis://127.0.0.1:${port}`,
    async start() {
      if (child !== undefined) return;
      const path = pathOf("redis-server");
      child = await startProgram({ path, args: [...place, ...keeping, ...args], ready: /Ready to accept connections/ });
    },
    async stop() {
      await endProgram(child, "SIGTERM");
      child = undefined;
    },
    async kill() {
      await endProgram(child, "SIGKILL");
      child = undefined;
    },
    async remove() {
      await server.kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
  await server.start();
  return server;
}
