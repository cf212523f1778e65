import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { generateKey } from "../../src/state.ts";
import { startProxy } from "./proxy.ts";

/** The program of one server process. */
export const SERVER: string = fileURLToPath(new URL("./server.ts", import.meta.url));

type Child = ChildProcessByStdio<Writable, Readable, null>;

export interface Cluster {
  /** Where clients call: the proxy. */
  readonly url: string;
  /** Process ids by instance name. */
  readonly pids: ReadonlyMap<string, number>;
  /** Kills an instance at once (SIGKILL) and waits until it is gone. */
  kill(name: string): Promise<void>;
  close(): void;
}

/** Starts `size` server processes that share a key, an audience and nothing else, behind a proxy on `port`. */
export async function startCluster(size: number, db: string, port: number): Promise<Cluster> {
  const proxy = await startProxy(port);
  const env = { VOLLEY_KEYS: generateKey() };
  const children = new Map<string, Child>();
  for (let number = 1; number <= size; number++) {
    const name = `tracker-${number}`;
    const args = [SERVER, "--name", name, "--db", db, "--audience", proxy.url];
    children.set(name, spawn(process.execPath, args, { env, stdio: ["pipe", "pipe", "inherit"] }));
  }
  const close = (): void => {
    for (const child of children.values()) child.kill();
    proxy.close();
  };
  try {
    const origins = [...children.values()].map(listening);
    for (const origin of await Promise.all(origins)) proxy.add(origin);
  } catch (error) {
    close();
    throw error;
  }

  return {
    url: proxy.url,
    pids: new Map([...children].map(([name, child]) => [name, child.pid as number])),
    async kill(name) {
      const child = children.get(name);
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, "exit");
      child.kill("SIGKILL");
      await gone;
    },
    close,
  };
}

/** The origin that a server process prints once it serves. */
async function listening(child: Child): Promise<string> {
  for await (const line of createInterface({ input: child.stdout })) {
    const origin = /^listening (\S+)$/.exec(line)?.[1];
    if (origin !== undefined) return origin;
  }
  throw new Error("A server process ended before it was listening.");
}
