import { randomUUID } from "node:crypto";
import {
  hostHeaderValidationResponse,
  isLegacyRequest,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  originValidationResponse,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { createLegacyServer } from "../../src/bridge.ts";
import type { Server } from "../../src/index.ts";

export interface BothRevisions {
  fetch(request: Request): Promise<Response>;
  /** Ends the sessions. */
  close(): Promise<void>;
}

/** One address for clients of every revision: older ones get a session each, and have to come back to this process. */
export function serveBoth(server: Server): BothRevisions {
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();

  const open = async (): Promise<WebStandardStreamableHTTPServerTransport> => {
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, transport),
    });
    transport.onclose = () => void sessions.delete(transport.sessionId ?? "");
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
    if (id === null) return (await open()).handleRequest(request);
    return (await sessions.get(id)?.handleRequest(request)) ?? new Response("No such session", { status: 404 });
  };

  return {
    fetch: async (request) => ((await isLegacyRequest(request)) ? serveOlder(request) : server.fetch(request)),
    async close() {
      await Promise.all([...sessions.values()].map((transport) => transport.close()));
    },
  };
}
