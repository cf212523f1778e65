// A server as a child process: one message a line on its standard streams.
import type { ChildProcess } from "node:child_process";
import type { Readable } from "node:stream";
import {
  isObject,
  type JSONRPCNotification,
  type JSONRPCRequest,
  type JSONRPCResponse,
  META,
  type RequestId,
  VolleyError,
} from "../protocol/index.ts";
import { closedError } from "./errors.ts";
import { isNotification, MAX_MESSAGE_SIZE, parseMessage, tooLarge } from "./messages.ts";
import type { SendOptions, Transport } from "./transport.ts";

/** A program to start as a server. */
export interface StdioServer {
  /** The program; it is found in `PATH` and no shell is involved. */
  readonly command: string;
  readonly args?: readonly string[];
  /**
   * Variables to set. Of this process's own only `HOME`, `LANG`, `LOGNAME`, `PATH`, `SHELL`, `TERM`, `TMPDIR`, `USER`
   * (and their Windows kin) are passed on, so that a server does not get secrets that were not meant for it.
   */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** What the server writes to its stderr: shown on ours (default), ignored, or given to a function. */
  readonly stderr?: "inherit" | "ignore" | ((text: string) => void);
  /** How long the server may take to end, first by itself, then after SIGTERM. Default 2,000 ms each. */
  readonly graceMs?: number;
}

const INHERITED = [
  "HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "USER",
  "APPDATA", "COMSPEC", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATHEXT", "PROCESSOR_ARCHITECTURE", "PROGRAMFILES",
  "SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "TMP", "USERNAME", "USERPROFILE", "WINDIR",
]; // biome-ignore format: two lines by platform

/** How long what an ended server has written may take to arrive, where a process of its own holds its output open. */
const DRAIN_MS = 100;

interface Waiting {
  readonly options: SendOptions;
  readonly progressToken: unknown;
  readonly isSubscription: boolean;
  settle(outcome: { response: JSONRPCResponse } | { error: unknown }): void;
}

/**
 * Starts the server and connects to it. A server that has ended is not started again.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio
 */
export function createStdioTransport(server: StdioServer, onWarning: (warning: string) => void): Transport {
  const waiting = new Map<RequestId, Waiting>();
  const { stderr = "inherit", graceMs = 2_000 } = server;
  // Not imported: a bundler would lift that to the top of what it makes for a runtime that lacks it.
  const { spawn } = process.getBuiltinModule("node:child_process");
  const child = spawn(server.command, [...(server.args ?? [])], {
    stdio: ["pipe", "pipe", typeof stderr === "function" ? "pipe" : stderr],
    env: childEnvironment(server.env ?? {}),
    ...(server.cwd === undefined ? {} : { cwd: server.cwd }),
    windowsHide: true,
  });
  const { stdin, stdout } = child as ChildProcess & { stdin: NodeJS.WritableStream; stdout: Readable };
  /** Makes the error of every request, each its own. */
  let ended: (() => VolleyError) | undefined;

  function end(error: () => VolleyError): void {
    ended ??= error;
    for (const entry of [...waiting.values()]) entry.settle({ error: ended() });
  }

  function hasEnded(code: number | null, signal: string | null): void {
    const message = `${server.command} has ended (${signal ?? `exit code ${code}`}): connect again to start it anew.`;
    end(() => new VolleyError("connection_failed", message));
  }

  function write(message: JSONRPCRequest | JSONRPCNotification): void {
    stdin.write(`${JSON.stringify(message)}\n`);
  }

  child.on("error", (cause: NodeJS.ErrnoException) => {
    const message = `${server.command} could not be started (${cause.code ?? cause.message}).`;
    end(() => new VolleyError("connection_failed", message, { cause }));
  });
  child.on("close", hasEnded);
  child.on("exit", (code, signal) => {
    const drained = setTimeout(() => {
      // What is there is read before this.
      setImmediate(() => {
        hasEnded(code, signal);
        stdout.destroy();
        child.stderr?.destroy();
      });
    }, DRAIN_MS);
    child.once("close", () => clearTimeout(drained));
  });
  // A server that is gone says so by "close"; the broken pipe adds nothing.
  stdin.on("error", () => {});
  if (typeof stderr === "function") child.stderr?.setEncoding("utf8").on("data", stderr);
  readLines(
    stdout,
    (line) => {
      const message = parseMessage(line);
      if (message === undefined)
        return onWarning(`${server.command} wrote a line to stdout that is no message; logs belong on stderr.`);
      if (isNotification(message)) return route(message, waiting);
      if (message.id !== undefined) waiting.get(message.id)?.settle({ response: message });
      else
        onWarning(
          `${server.command} sent an error that names no request: ${"error" in message ? message.error.message : ""}`,
        );
    },
    () => {
      end(tooLarge);
      child.kill();
    },
  );

  return {
    kind: "stdio",
    address: [server.command, ...(server.args ?? [])].join(" "),
    send(request, options) {
      return new Promise((resolve, reject) => {
        const { signal } = options;
        if (ended !== undefined) return reject(ended());
        if (signal.aborted) return reject(signal.reason);
        const abort = (): void => {
          write(cancelled(request.id, signal.reason));
          entry.settle({ error: signal.reason });
        };
        const entry: Waiting = {
          options,
          progressToken: progressTokenOf(request),
          isSubscription: request.method === "subscriptions/listen",
          settle(outcome) {
            waiting.delete(request.id);
            signal.removeEventListener("abort", abort);
            if ("response" in outcome) resolve(outcome.response);
            else reject(outcome.error);
          },
        };
        waiting.set(request.id, entry);
        signal.addEventListener("abort", abort);
        write(request);
      });
    },
    async close() {
      end(closedError);
      stdin.end();
      if (await gone(child, graceMs)) return;
      child.kill("SIGTERM");
      if (await gone(child, graceMs)) return;
      child.kill("SIGKILL");
      await gone(child, graceMs);
    },
  };
}

/** Hands a notification to the requests that it is about; all share one channel. */
function route(notification: JSONRPCNotification, waiting: ReadonlyMap<RequestId, Waiting>): void {
  const { method, params } = notification;
  const meta = isObject(params?._meta) ? params._meta : undefined;
  const subscription = meta?.[META.subscriptionId];
  if (subscription !== undefined) {
    waiting.get(subscription as RequestId)?.options.onNotification(notification);
  } else if (method === "notifications/cancelled") {
    // A server may end a subscription this way, and nothing else.
    const entry = waiting.get(params?.requestId as RequestId);
    if (entry?.isSubscription)
      entry.settle({ error: new VolleyError("closed", "The server has ended the subscription.") });
  } else if (method === "notifications/progress") {
    for (const entry of waiting.values()) {
      if (entry.progressToken !== undefined && entry.progressToken === params?.progressToken)
        entry.options.onNotification(notification);
    }
  } else {
    // A log message does not name its request: every request that wants log messages gets it.
    for (const entry of waiting.values()) entry.options.onNotification(notification);
  }
}

function progressTokenOf(request: JSONRPCRequest): unknown {
  const meta = request.params?._meta;
  return isObject(meta) ? meta.progressToken : undefined;
}

function cancelled(requestId: RequestId, reason: unknown): JSONRPCNotification {
  const params: Record<string, unknown> = { requestId };
  if (VolleyError.is(reason)) params.reason = reason.message;
  return { jsonrpc: "2.0", method: "notifications/cancelled", params };
}

function readLines(stream: NodeJS.ReadableStream, onLine: (line: string) => void, onTooLong: () => void): void {
  const { StringDecoder } = process.getBuiltinModule("node:string_decoder");
  const decoder = new StringDecoder("utf8");
  let pieces: string[] = [];
  let size = 0;
  stream.on("data", (chunk: Buffer) => {
    const parts = decoder.write(chunk).split("\n");
    for (const [index, part] of parts.entries()) {
      pieces.push(part);
      size += part.length;
      if (size > MAX_MESSAGE_SIZE) return onTooLong();
      if (index === parts.length - 1) return;
      const line = pieces.join("").trim();
      pieces = [];
      size = 0;
      if (line !== "") onLine(line);
    }
  });
}

function childEnvironment(given: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const environment: NodeJS.ProcessEnv = {};
  for (const name of INHERITED) {
    const value = process.env[name];
    if (value !== undefined) environment[name] = value;
  }
  return { ...environment, ...given };
}

/** Resolves with true when the process ends within `ms`. */
function gone(child: ChildProcess, ms: number): Promise<boolean> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return Promise.resolve(true);
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      child.off("exit", exited);
      resolve(false);
    }, ms);
    const exited = (): void => {
      clearTimeout(timer);
      resolve(true);
    };
    child.once("exit", exited);
  });
}
