import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What a server contestant is started with. */
export interface ServerOptions {
  /** How many tools it registers in all. */
  readonly tools: number;
  /** A key that it shares with others; its own otherwise. */
  readonly key?: string;
  /** Where it listens, instead of on a free port of the loopback. */
  readonly socket?: string;
}

/** The options that the bench gave this process. */
export function options(): ServerOptions {
  return JSON.parse(process.argv[2] ?? '{"tools":3}') as ServerOptions;
}

/** What a server contestant says when it listens; on a socket the port is 0. */
export interface Listening {
  readonly port: number;
}

/** What a contestant answers to "memory": after a full garbage collection, in bytes. */
export interface Memory {
  readonly heap: number;
  readonly external: number;
  readonly resident: number;
}

/** Listens on a free port of the loopback, tells the bench which, and answers its questions. */
export function listen(handler: (request: IncomingMessage, response: ServerResponse) => void): void {
  const server = createServer(handler);
  const { socket } = options();
  const ready = (): void => {
    const address = server.address() as AddressInfo | string;
    answerMemory();
    process.send?.({ port: typeof address === "string" ? 0 : address.port } satisfies Listening);
  };
  if (socket === undefined) server.listen(0, "127.0.0.1", ready);
  else server.listen(socket, ready);
}

function answerMemory(): void {
  process.on("message", () => {
    // What a collection frees by finalizers and weak references is freed by the next one.
    collect(4, () => {
      const { heapUsed, external, rss } = process.memoryUsage();
      process.send?.({ heap: heapUsed, external, resident: rss } satisfies Memory);
    });
  });
  process.on("disconnect", () => process.exit());
}

function collect(times: number, then: () => void): void {
  globalThis.gc?.();
  setImmediate(times > 1 ? () => collect(times - 1, then) : then);
}
