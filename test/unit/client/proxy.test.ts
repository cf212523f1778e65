import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer, request, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, connect as connectSocket } from "node:net";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { text } from "./fixtures.ts";

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const tls = { cert: readFileSync(here("localhost-cert.pem")), key: readFileSync(here("localhost-key.pem")) };
const servers: Server[] = [];
let plain = 0;
let secure = 0;

async function listen(server: Server): Promise<number> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

beforeAll(async () => {
  const answer: Parameters<typeof createServer>[1] = (incoming, reply) => {
    let body = "";
    incoming.setEncoding("utf8").on("data", (chunk: string) => {
      body += chunk;
    });
    incoming.on("end", () => {
      const { id, method, params } = JSON.parse(body);
      const result = method === "tools/list" ? { resultType: "complete", tools: [] } : text(params.arguments.text);
      reply.writeHead(200, { "content-type": "application/json" });
      reply.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
    });
  };
  plain = await listen(createServer(answer));
  secure = await listen(createTlsServer(tls, answer));
});

afterAll(() => {
  for (const server of servers) server.close().closeAllConnections();
});

/** A proxy that resolves no names: whatever it is asked for is on this machine. */
async function startProxy(): Promise<{ url: string; seen: Set<string> }> {
  const seen = new Set<string>();
  const proxy = createServer((incoming, reply) => {
    const { hostname, port, pathname } = new URL(incoming.url ?? "");
    seen.add(`${incoming.method} ${hostname}${pathname}`);
    const { method, headers } = incoming;
    const onward = request({ host: "127.0.0.1", port, path: pathname, method, headers }, (answered) => {
      reply.writeHead(answered.statusCode ?? 0, answered.headers);
      answered.pipe(reply);
    });
    incoming.pipe(onward);
  });
  proxy.on("connect", (incoming, socket) => {
    const { hostname, port } = new URL(`http://${incoming.url}`);
    seen.add(`CONNECT ${hostname}:${port}`);
    const onward = connectSocket(Number(port), "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      socket.pipe(onward).pipe(socket);
    });
    onward.on("error", () => socket.destroy());
    socket.on("error", () => onward.destroy());
  });
  return { url: `http://127.0.0.1:${await listen(proxy)}`, seen };
}

async function call(
  transport: string,
  urls: string[],
  env: Record<string, string>,
  flags: string[] = [],
): Promise<unknown> {
  const { PATH = "" } = process.env;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [...flags, here("proxy-client.ts"), transport, ...urls],
    { env: { PATH, NODE_EXTRA_CA_CERTS: here("localhost-cert.pem"), ...env } },
  );
  return JSON.parse(stdout);
}

describe.concurrent.each(["node:http", "fetch"])("case 74: %s", (transport) => {
  const done = text("é");

  test.each([
    ["NODE_USE_ENV_PROXY=1", { NODE_USE_ENV_PROXY: "1" }, []],
    ["--use-env-proxy", {}, ["--use-env-proxy"]],
  ])(
    "goes by the environment's proxies with %s, in a tunnel for https, but not to hosts of NO_PROXY",
    async (_name, env, flags) => {
      const { url, seen } = await startProxy();
      const far = [`http://server.invalid:${plain}/mcp`, `https://server.invalid:${secure}/mcp`];
      const near = [`http://localhost:${plain}/mcp`, `https://localhost:${secure}/mcp`];
      const proxies = { HTTP_PROXY: url, HTTPS_PROXY: url, NO_PROXY: "localhost" };
      expect(await call(transport, [...far, ...near], { ...proxies, ...env }, flags)).toEqual([done, done, done, done]);
      // Node's fetch has changed its mind about tunnels for http.
      const plainly = seen.delete("POST server.invalid/mcp") || seen.delete(`CONNECT server.invalid:${plain}`);
      expect([plainly, ...seen]).toEqual([true, `CONNECT server.invalid:${secure}`]);
    },
  );

  test("does not unless Node is told to", async () => {
    const { url, seen } = await startProxy();
    const near = [`http://localhost:${plain}/mcp`, `https://localhost:${secure}/mcp`];
    expect(await call(transport, near, { HTTP_PROXY: url, HTTPS_PROXY: url })).toEqual([done, done]);
    expect([...seen]).toEqual([]);
  });
});
