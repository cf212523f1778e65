import { randomUUID } from "node:crypto";
import { once } from "node:events";
import {
  hostHeaderValidationResponse,
  isLegacyRequest,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  originValidationResponse,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { createLegacyServer } from "../../src/bridge.ts";
import type { Server } from "../../src/index.ts";
import { serveStdio } from "../../src/stdio.ts";

export interface BothRevisions {
  fetch(request: Request): Promise<Response>;
  /** Ends the sessions. */
  close(): Promise<void>;
}

const MOST_SESSIONS = 1_000;
const IDLE_MS = 30 * 60_000;

/** One address for clients of every revision: older ones get a session each, and have to come back to this process. */
export function serveBoth(server: Server): BothRevisions {
  const sessions = new Map<string, { transport: WebStandardStreamableHTTPServerTransport; idle: NodeJS.Timeout }>();

  const open = async (): Promise<WebStandardStreamableHTTPServerTransport> => {
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized(id) {
        // Who went away without a word leaves a session behind.
        sessions.set(id, { transport, idle: setTimeout(() => void transport.close(), IDLE_MS).unref() });
      },
    });
    transport.onclose = () => {
      const id = transport.sessionId ?? "";
      clearTimeout(sessions.get(id)?.idle);
      sessions.delete(id);
    };
    await createLegacyServer(server).connect(transport);
    return transport;
  };

  const serveOlder = async (request: Request): Promise<Response> => {
    // What server.fetch does by itself: a page that rebinds its name to this machine must not call.
    const refused =
      hostHeaderValidationResponse(request, localhostAllowedHostnames()) ??
      originValidationResponse(request, localhostAllowedOrigins());
    if (refused) return refused;
    const id = request.headers.get("mcp-session-id");
    if (id === null) {
      if (sessions.size >= MOST_SESSIONS) return new Response("Too many sessions", { status: 503 });
      return (await open()).handleRequest(request);
    }
    const session = sessions.get(id);
    if (session === undefined) return new Response("No such session", { status: 404 });
    session.idle.refresh();
    return session.transport.handleRequest(request);
  };

  return {
    fetch: async (request) => ((await isLegacyRequest(request)) ? serveOlder(request) : server.fetch(request)),
    async close() {
      await Promise.all([...sessions.values()].map(({ transport }) => transport.close()));
    },
  };
}

/** One client on standard streams, of whatever revision: an older one begins with `initialize`. Resolves when its session has ended. */
export async function serveBothOverStdio(server: Server): Promise<void> {
  const head = await readFirstLine();
  process.stdin.unshift(head);
  if (isInitialize(head.toString().split("\n", 1)[0] ?? "")) {
    const session = createLegacyServer(server);
    const ended = new Promise<void>((resolve) => {
      session.onclose = resolve;
    });
    await session.connect(new StdioServerTransport());
    await ended;
  } else {
    await serveStdio(server);
  }
}

async function readFirstLine(): Promise<Buffer> {
  const parts: Buffer[] = [];
  while (!parts.at(-1)?.includes("\n") && !process.stdin.readableEnded) {
    const part: Buffer | null = process.stdin.read();
    if (part !== null) parts.push(part);
    else await Promise.race([once(process.stdin, "readable"), once(process.stdin, "end")]);
  }
  return Buffer.concat(parts);
}

function isInitialize(line: string): boolean {
  try {
    return JSON.parse(line).method === "initialize";
  } catch {
    return false;
  }
}
