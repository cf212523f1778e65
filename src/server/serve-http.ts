import { createServer as createHttpServer, type Server as HttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { checkOptions, type OptionNames, VolleyError } from "../protocol/index.ts";
import { nodeHandler } from "./node.ts";
import { coreOf, type Server } from "./server.ts";

export interface ServeHttpOptions {
  /** Default 3000; 0 takes a free one. */
  readonly port?: number;
  /** The address to listen on. Default `127.0.0.1`: this machine alone. Any other needs the server's `allowedHosts`. */
  readonly host?: string;
  /** Where the server answers. Default `/mcp`. */
  readonly path?: string;
}

/** A server that listens. */
export interface HttpServing {
  readonly url: string;
  /** Ends the server gracefully, then its connections. */
  close(graceMs?: number): Promise<void>;
}

const FLUSH_MS = 500;
const LOOPBACK = new Set(["127.0.0.1", "::1", "localhost"]);

const OPTIONS: OptionNames<ServeHttpOptions> = { port: true, host: true, path: true };

/**
 * Serves over HTTP by itself, on this machine unless told otherwise; within another HTTP server use {@link nodeHandler}.
 *
 * @throws VolleyError `keys_missing`, `invalid_options` for a set-up that would not be safe or a port that is not free
 * @example
 * ```ts
 * const { url } = await serveHttp(server, { port: 3000 });
 * ```
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#security-endpoint
 */
export async function serveHttp(server: Server, options: ServeHttpOptions = {}): Promise<HttpServing> {
  checkOptions("serveHttp", options, OPTIONS);
  const { port = 3000, host = "127.0.0.1", path = "/mcp" } = options;
  if (!LOOPBACK.has(host) && coreOf(server).settings.allowedHosts === undefined) {
    throw new VolleyError(
      "invalid_options",
      `Listening on ${host} makes the server reachable from elsewhere: give createServer \`allowedHosts\`, the names it is called by.`,
    );
  }
  const handle = nodeHandler(server);
  const http = createHttpServer((req, res) => {
    const { url = "" } = req;
    const query = url.indexOf("?");
    if ((query < 0 ? url : url.slice(0, query)) === path) handle(req, res);
    else res.writeHead(404, ["Content-Length", "0"]).end();
  });
  await listen(http, port, host);
  const address = http.address() as AddressInfo;
  const name = address.family === "IPv6" ? `[${address.address}]` : address.address;
  return {
    url: `http://${name}:${address.port}${path}`,
    async close(graceMs) {
      await server.close(graceMs);
      // What was answered last may still be on its way.
      const cut = setTimeout(() => http.closeAllConnections(), FLUSH_MS);
      await new Promise<void>((resolve) => http.close(() => resolve()));
      clearTimeout(cut);
    },
  };
}

function listen(http: HttpServer, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const refuse = (cause: NodeJS.ErrnoException): void => reject(explain(cause, port, host));
    http.once("error", refuse);
    http.listen(port, host, () => {
      http.removeListener("error", refuse);
      resolve();
    });
  });
}

function explain(cause: NodeJS.ErrnoException, port: number, host: string): Error {
  const why =
    cause.code === "EADDRINUSE"
      ? "another program listens there"
      : cause.code === "EACCES"
        ? "this user may not listen there"
        : undefined;
  if (why === undefined) return cause;
  return new VolleyError(
    "invalid_options",
    `serveHttp cannot have port ${port} of ${host}: ${why} (${cause.code}). Give another \`port\`; 0 takes a free one.`,
    { cause },
  );
}
