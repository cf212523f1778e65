import { devNode, startListening } from "../../scripts/listening.ts";
import { root } from "../../scripts/run.ts";
import { officialPeer } from "./official-peer.ts";
import { ourPeer } from "./our-peer.ts";
import type { Peer, Target } from "./peer.ts";

export type ClientName = "our client" | "official client";
export type ServerName = "our server" | "official server";
export type TransportName = Target["transport"];

export const clients: Readonly<Record<ClientName, (target: Target) => Promise<Peer>>> = {
  "our client": ourPeer,
  "official client": officialPeer,
};

/** The programs: they listen with `--port`, and speak on their standard streams with `--stdio`. */
export const servers: Readonly<Record<ServerName, string>> = {
  "our server": `${root}examples/everything/main.ts`,
  "official server": `${root}test/fixtures/official-server.ts`,
};

/** A client at a server of its own, which is another process over either transport. */
export async function join(client: ClientName, server: ServerName, transport: TransportName): Promise<Peer> {
  if (transport === "stdio") {
    return clients[client]({ transport, command: devNode, args: [servers[server], "--stdio"] });
  }
  const listening = await startListening([servers[server], "--port", "0"]);
  try {
    const peer = await clients[client]({ transport, url: listening.url });
    const close = async (): Promise<void> => {
      await peer.close();
      await listening.stop();
    };
    return { ...peer, close };
  } catch (error) {
    await listening.stop();
    throw error;
  }
}
