import type { ServerResponse } from "node:http";
import { brotliCompressSync, constants, createGzip, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { MAX_MESSAGE_SIZE } from "../../../src/client/messages.ts";
import { type ConnectOptions, connect } from "../../../src/client.ts";
import { type Seen, serve, text } from "./fixtures.ts";

const transports: [string, ConnectOptions][] = [
  ["node:http", {}],
  ["fetch", { fetch: (url, init) => fetch(url, init) }],
];
const encodings: [string, (data: string) => Buffer][] = [
  ["gzip", gzipSync],
  ["deflate", deflateSync],
  ["br", brotliCompressSync],
  ["zstd", zstdCompressSync],
];
const forms: [string, (json: string) => string][] = [
  ["application/json", (json) => json],
  ["text/event-stream", (json) => `data: ${json}\n\n`],
];
const BOM = "\ufeff";

/** A server whose calls are answered with the bytes that `write` makes of the answer. */
function answering(write: (json: string, reply: ServerResponse) => void): ReturnType<typeof serve> {
  return serve(({ id, method }: Seen, reply) => {
    if (method === "tools/list") return { resultType: "complete", tools: [] };
    write(JSON.stringify({ jsonrpc: "2.0", id, result: text("é🌍".repeat(2_000)) }), reply);
    return undefined;
  });
}

describe.each(transports)("%s", (_, options) => {
  describe.each(forms)("case 47: %s", (type, asForm) => {
    test.each(encodings)("compressed by %s unasked is read", async (encoding, compress) => {
      await using server = await answering((json, reply) =>
        reply.writeHead(200, { "content-type": type, "content-encoding": encoding }).end(compress(asForm(json))),
      );
      const client = await connect(server.url, options);
      expect(await client.callTool("work")).toEqual(text("é🌍".repeat(2_000)));
      await client.close();
    });
  });

  test.each(forms)("case 49: a byte order mark before %s is skipped", async (type, asForm) => {
    await using server = await answering((json, reply) => {
      reply.writeHead(200, { "content-type": type });
      // In pieces, as a slow server has it.
      const bytes = Buffer.from(BOM + asForm(json));
      reply.write(bytes.subarray(0, 2));
      setTimeout(() => reply.end(bytes.subarray(2)), 10);
    });
    const client = await connect(server.url, options);
    expect(await client.callTool("work")).toEqual(text("é🌍".repeat(2_000)));
    await client.close();
  });

  test.each([301, 302, 303, 307, 308])(
    "case 50: a redirect (%i) is refused with the address it names",
    async (status) => {
      await using server = await serve((_seen, reply) => void reply.writeHead(status, { location: "/mcp/" }).end());
      const client = await connect(server.url, options);
      await expect(client.listPrompts()).rejects.toMatchObject({
        code: "connection_failed",
        message: expect.stringContaining(`${server.url}/.`),
        cause: { status, location: "/mcp/", message: `HTTP ${status}` },
      });
      expect(server.seen).toHaveLength(1);
      await client.close();
    },
  );
});

describe("case 47: node:http", () => {
  test("asks for no compression, unless the caller does", async () => {
    await using server = await serve(() => ({ resultType: "complete", prompts: [] }));
    for (const headers of [{}, { "Accept-Encoding": "gzip" }]) {
      const client = await connect(server.url, { headers });
      await client.listPrompts();
      await client.close();
    }
    expect(server.seen.map(({ headers }) => headers["accept-encoding"])).toEqual(["identity", "gzip"]);
  });

  test("reads a compressed stream as it comes", async () => {
    await using server = await serve(({ id, method, params }, reply) => {
      if (method === "tools/list") return { resultType: "complete", tools: [] };
      reply.writeHead(200, { "content-type": "text/event-stream", "content-encoding": "gzip" });
      const gzip = createGzip();
      gzip.pipe(reply);
      const say = (message: object): void => {
        gzip.write(`data: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`);
        gzip.flush(constants.Z_SYNC_FLUSH);
      };
      const { progressToken } = params._meta;
      say({ method: "notifications/progress", params: { progressToken, progress: 1 } });
      // Goes on only when the progress has been heard.
      heard = () => {
        say({ id, result: text("done") });
        gzip.end();
      };
      return undefined;
    });
    let heard: () => void = () => {};
    const client = await connect(server.url);
    expect(await client.callTool("work", {}, { onProgress: () => heard() })).toEqual(text("done"));
    await client.close();
  });

  test.each(forms)("names an encoding that it does not know, %s", async (type) => {
    await using server = await answering((json, reply) =>
      reply.writeHead(200, { "content-type": type, "content-encoding": "snappy" }).end(json),
    );
    const client = await connect(server.url);
    await expect(client.callTool("work")).rejects.toMatchObject({
      code: "message_invalid",
      message: expect.stringContaining('"snappy"'),
    });
    await client.close();
  });

  test.each(forms)("says that the data is damaged, %s", async (type) => {
    await using server = await answering((json, reply) =>
      reply.writeHead(200, { "content-type": type, "content-encoding": "gzip" }).end(json),
    );
    const client = await connect(server.url);
    await expect(client.callTool("work")).rejects.toMatchObject({
      code: "message_invalid",
      message: expect.stringContaining('"gzip"'),
    });
    await client.close();
  });

  test.each(forms)("counts what has been decoded, %s", async (type) => {
    const bomb = gzipSync(Buffer.alloc(MAX_MESSAGE_SIZE + 2 ** 20, "a"));
    expect(bomb.length).toBeLessThan(100_000);
    await using server = await answering((_json, reply) =>
      reply.writeHead(200, { "content-type": type, "content-encoding": "gzip" }).end(bomb),
    );
    const client = await connect(server.url);
    await expect(client.callTool("work")).rejects.toMatchObject({
      code: "message_invalid",
      message: expect.stringContaining(`${MAX_MESSAGE_SIZE} bytes`),
    });
    await client.close();
  });
});
