import { expect, test, vi } from "vitest";
import { serveHttp } from "../../../src/node.ts";
import { headersFor, message } from "../../spec/http-entry.ts";
import { create } from "./harness.ts";

const post = (url: string, body: object): Promise<Response> =>
  fetch(url, { method: "POST", headers: headersFor(body), body: JSON.stringify(body) });

test("H7: it listens on this machine alone unless told otherwise, at one path", async () => {
  const server = create();
  server.tool("hello", {}, () => "Hello.");
  const { url, close } = await serveHttp(server, { port: 0 });
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/);
  expect((await post(`${url}?x=1`, message("tools/list"))).status).toBe(200);
  expect((await post(url.replace("/mcp", "/other"), message("tools/list"))).status).toBe(404);
  await close();
  await expect(post(url, message("tools/list"))).rejects.toThrow();
});

test("H7: any other address needs the names that the server is called by", async () => {
  await expect(serveHttp(create(), { port: 0, host: "0.0.0.0" })).rejects.toThrow(
    expect.objectContaining({ code: "invalid_options", message: expect.stringContaining("allowedHosts") }),
  );
});

test("a port in use is an error that says what to do", async () => {
  const first = await serveHttp(create(), { port: 0 });
  const port = Number(new URL(first.url).port);
  await expect(serveHttp(create(), { port })).rejects.toMatchObject({
    code: "invalid_options",
    message: `serveHttp cannot have port ${port} of 127.0.0.1: another program listens there (EADDRINUSE). Give another \`port\`; 0 takes a free one.`,
    cause: { code: "EADDRINUSE" },
  });
  await first.close();
});

test("closing lets running requests finish, then tells their handlers to stop", async () => {
  const server = create();
  const aborted = vi.fn();
  const begun = vi.fn();
  server.tool("short", {}, () => {
    begun();
    return new Promise<string>((resolve) => setTimeout(() => resolve("finished"), 50));
  });
  server.tool("long", {}, (_args, ctx) => {
    begun();
    return new Promise<string>((_resolve, reject) => {
      ctx.signal.addEventListener("abort", () => {
        aborted();
        reject(ctx.signal.reason);
      });
    });
  });
  const { url, close } = await serveHttp(server, { port: 0 });
  const short = post(url, message("tools/call", { name: "short" }));
  const long = post(url, message("tools/call", { name: "long" }));
  await vi.waitFor(() => expect(begun).toHaveBeenCalledTimes(2));
  await close(200);
  expect(aborted).toHaveBeenCalledTimes(1);
  expect(await (await short).json()).toMatchObject({ result: { content: [{ text: "finished" }] } });
  expect((await long).status).toBe(200);
});
