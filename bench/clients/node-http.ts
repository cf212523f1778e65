import { Agent, request } from "node:http";
import { byHand } from "./by-hand.ts";
import type { Connect } from "./client.ts";

const agent = new Agent({ keepAlive: true });

export const connect: Connect = async (url) =>
  byHand(
    (headers, body) =>
      new Promise((resolve, reject) => {
        const options = { method: "POST", agent, headers: { ...headers, "content-length": Buffer.byteLength(body) } };
        const sent = request(url, options, (response) => {
          let text = "";
          response.setEncoding("utf8");
          response.on("data", (chunk: string) => {
            text += chunk;
          });
          response.on("end", () => resolve(text)).on("error", reject);
        });
        sent.on("error", reject).end(body);
      }),
  );
