import { Agent, type IncomingMessage, request } from "node:http";

const VERSION = "2025-11-25";
/** How many sessions are being opened at a time. */
const AT_ONCE = 32;

/** Clients of a server with sessions that have been asked something and have not answered yet. */
export interface WaitingClients {
  /** Opens so many more sessions, each with a tool call whose question stays open. */
  wait(count: number): Promise<void>;
  close(): void;
}

/** Speaks the revision 2025-11-25 by hand, because ten thousand whole clients would need more memory than the server. */
export function createWaitingClients(url: string): WaitingClients {
  const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
  const open: IncomingMessage[] = [];

  function post(message: object, session: string | undefined): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const headers = {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...(session === undefined ? {} : { "mcp-session-id": session, "mcp-protocol-version": VERSION }),
      };
      request(url, { method: "POST", agent, headers }, resolve)
        .on("error", reject)
        .end(JSON.stringify({ jsonrpc: "2.0", ...message }));
    });
  }

  async function one(): Promise<void> {
    const params = {
      protocolVersion: VERSION,
      capabilities: { elicitation: {} },
      clientInfo: { name: "bench", version: "1.0.0" },
    };
    const hello = await post({ id: 1, method: "initialize", params }, undefined);
    const session = String(hello.headers["mcp-session-id"]);
    await drain(hello);
    await drain(await post({ method: "notifications/initialized" }, session));
    const call = { id: 2, method: "tools/call", params: { name: "resolve_bug", arguments: { id: 4522 } } };
    const stream = await post(call, session);
    await readUntil(stream, "elicitation/create");
    open.push(stream);
  }

  return {
    async wait(count): Promise<void> {
      let left = count;
      const opener = async (): Promise<void> => {
        while (left > 0) {
          left -= 1;
          await one();
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, opener));
    },
    close(): void {
      for (const stream of open) stream.on("error", () => {}).destroy();
      agent.destroy();
    },
  };
}

async function drain(response: IncomingMessage): Promise<void> {
  for await (const _ of response);
}

function readUntil(stream: IncomingMessage, wanted: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let text = "";
    stream.setEncoding("utf8");
    stream.on("data", (chunk: string) => {
      text += chunk;
      if (text.includes(wanted)) resolve();
    });
    stream.on("end", () => reject(new Error(`the stream ended before "${wanted}": ${text}`)));
  });
}
