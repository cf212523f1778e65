// A private nginx: unless told otherwise, each request to the next process in turn, whoever sent it and whatever it is about.
import { mkdtempSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { endProgram, freePort, pathOf, startProgram } from "../support/private-server.ts";

export interface ProxyServer {
  readonly url: string;
  close(): Promise<void>;
}

export interface NginxOptions {
  /** How many connections to the sockets are kept. Default none: each request makes its own. */
  readonly keepAlive?: number;
  /** The processor that it runs on. Default any. */
  readonly cpu?: number;
  /** How a request's process is chosen. Default `turn`: each gets one after the other. */
  readonly choose?: "turn" | "random";
}

/** Sockets, not ports: while a process is dead nothing else can take its place. */
export async function startNginx(sockets: readonly string[], options: NginxOptions = {}): Promise<ProxyServer> {
  const folder = mkdtempSync(join(tmpdir(), "volley-nginx-"));
  const port = await freePort();
  const file = join(folder, "nginx.conf");
  writeFileSync(file, configuration(folder, port, sockets, options));
  const { cpu } = options;
  const path = pathOf("nginx");
  const args = ["-p", folder, "-e", "stderr", "-c", file];
  const nginx = await startProgram({
    ...(cpu === undefined ? { path, args } : { path: pathOf("taskset"), args: ["-c", String(cpu), path, ...args] }),
    ready: /using the ".*" event method/,
  });
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    async close() {
      await endProgram(nginx, "SIGTERM");
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** One process, so that none is left over when ours ends early. */
function configuration(
  folder: string,
  port: number,
  sockets: readonly string[],
  { keepAlive = 0, choose = "turn" }: NginxOptions,
): string {
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
  return `
    daemon off;
    master_process off;
    pid ${folder}/nginx.pid;
    error_log stderr notice;
    events { worker_connections 4096; }
    http {
      access_log off;
      ${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join("\n")}
      upstream fleet {
        ${choose === "random" ? "random;" : ""}
        ${sockets.map((socket) => `server unix:${socket} max_fails=0;`).join("\n")}
        ${keepAlive > 0 ? `keepalive ${keepAlive}; keepalive_requests 1000000; keepalive_timeout 3s;` : ""}
      }
      server {
        listen 127.0.0.1:${port};
        keepalive_timeout 75;
        keepalive_requests 1000000;
        location / {
          proxy_pass http://fleet;
          proxy_http_version 1.1;
          proxy_set_header Host $http_host;
          proxy_set_header Connection "";
          # Only where nothing was sent: a POST that a server may have heard is the client's to repeat.
          proxy_next_upstream error;
          proxy_read_timeout 60s;
          proxy_buffering off;
        }
      }
    }
  `;
}
