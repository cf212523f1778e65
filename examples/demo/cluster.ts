import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { generateKey } from "../../src/state.ts";
import { startProxy } from "./proxy.ts";

type Child = ChildProcessByStdio<Writable, Readable, null>;

/** What its processes run. */
export interface ClusterOptions {
  /** A program that takes `--name` and `--audience`, and prints `listening ORIGIN` once it serves. */
  readonly program: string;
  /** Its further arguments. */
  readonly args: readonly string[];
  /** What the names of the instances begin with. */
  readonly name: string;
  readonly size: number;
  /** Of the proxy; 0: a free one. */
  readonly port: number;
}

export interface Cluster {
  /** Where clients call: the proxy. */
  readonly url: string;
  /** Process ids by instance name. */
  readonly pids: ReadonlyMap<string, number>;
  /** Kills an instance at once (SIGKILL) and waits until it is gone. */
  kill(instance: string): Promise<void>;
  close(): void;
}

/** Starts server processes that share a key, an audience and what their arguments name, behind a proxy. */
export async function startCluster({ program, args, name, size, port }: ClusterOptions): Promise<Cluster> {
  const proxy = await startProxy(port);
  const env = { VOLLEY_KEYS: generateKey() };
  const children = new Map<string, Child>();
  for (let number = 1; number <= size; number++) {
    const instance = `${name}-${number}`;
    const command = [program, ...args, "--name", instance, "--audience", proxy.url];
    children.set(instance, spawn(process.execPath, command, { env, stdio: ["pipe", "pipe", "inherit"] }));
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
    pids: new Map([...children].map(([instance, child]) => [instance, child.pid as number])),
    async kill(instance) {
      const child = children.get(instance);
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
