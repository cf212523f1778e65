import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { createProxyServer } from "httpxy";

export interface Proxy {
  readonly url: string;
  /** Adds the origin of a server to take turns. */
  add(origin: string): void;
  close(): void;
}

/** Hands each request to the next server in turn, whoever sent it and whatever it is about. A server that refuses the connection is passed over. */
export async function startProxy(port: number): Promise<Proxy> {
  const origins: string[] = [];
  let turn = 0;
  const forward = createProxyServer({ agent: false });

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request);
    for (let tries = origins.length; tries > 0; tries--) {
      const target = origins[turn++ % origins.length] as string;
      try {
        return await forward.web(request, response, { target, buffer: Readable.from(body) });
      } catch (error) {
        // Nothing reached that server, so the next one may have the request; after any other failure that is not known.
        if ((error as NodeJS.ErrnoException).code !== "ECONNREFUSED") break;
      }
    }
    response.writeHead(502).end();
  }

  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    const failed = (error: NodeJS.ErrnoException): void =>
      reject(error.code === "EADDRINUSE" ? new Error(`Port ${port} is in use: choose another with --port.`) : error);
    server.once("error", failed).listen(port, "127.0.0.1", resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    add: (origin) => void origins.push(origin),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
