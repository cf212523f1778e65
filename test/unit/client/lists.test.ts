import { describe, expect, test } from "vitest";
import { connect, isResourceNotFound } from "../../../src/client.ts";
import { memory } from "./fixtures.ts";

/** A list of prompts in pages: cursor to names and next cursor. */
function pages(script: Record<string, { names: string[]; next?: string }>): ReturnType<typeof memory> {
  return memory(({ params }) => {
    const page = script[String(params?.cursor ?? "first")];
    if (page === undefined) return { error: { code: -32602, message: "Invalid cursor" } };
    return {
      resultType: "complete",
      prompts: page.names.map((name) => ({ name })),
      ...(page.next === undefined ? {} : { nextCursor: page.next }),
    };
  });
}

describe("lists", () => {
  test("pages are collected, and an empty cursor is a cursor", async () => {
    const transport = pages({
      first: { names: ["a"], next: "" },
      "": { names: ["b"], next: "x y" },
      "x y": { names: [] },
    });
    const client = await connect(transport);
    expect(await client.listPrompts()).toEqual([{ name: "a" }, { name: "b" }]);
    expect(transport.requests.map(({ params }) => params?.cursor)).toEqual([undefined, "", "x y"]);
    expect(transport.requests[0]?.params).not.toHaveProperty("cursor");
  });

  test("page by page, as far as one wants", async () => {
    const transport = pages({
      first: { names: ["a"], next: "2" },
      "2": { names: ["b"], next: "3" },
      "3": { names: ["c"] },
    });
    const client = await connect(transport);
    const seen: unknown[] = [];
    for await (const page of client.pages("prompts/list")) {
      seen.push(page.prompts);
      if (page.nextCursor === "3") break;
    }
    expect(seen).toEqual([[{ name: "a" }], [{ name: "b" }]]);
    expect(transport.requests).toHaveLength(2);
  });

  test("a list that goes in circles is an error", async () => {
    const client = await connect(pages({ first: { names: ["a"], next: "2" }, "2": { names: ["b"], next: "2" } }));
    await expect(client.listPrompts()).rejects.toMatchObject({ code: "message_invalid" });
  });

  test("a cursor that is no longer valid starts the list again, once", async () => {
    const script: Record<string, { names: string[]; next?: string }> = { first: { names: ["a"], next: "old" } };
    const transport = pages(script);
    const client = await connect(transport);
    await expect(client.listPrompts()).rejects.toMatchObject({ code: -32602 });
    expect(transport.requests.map(({ params }) => params?.cursor)).toEqual([undefined, "old", undefined, "old"]);
  });

  test("the other lists", async () => {
    const client = await connect(
      memory(({ method }) => ({
        resultType: "complete",
        ...(method === "resources/list"
          ? { resources: [{ uri: "file:///a", name: "a" }] }
          : { resourceTemplates: [{ uriTemplate: "file:///{p}", name: "t" }] }),
      })),
    );
    expect(await client.listResources()).toEqual([{ uri: "file:///a", name: "a" }]);
    expect(await client.listResourceTemplates()).toEqual([{ uriTemplate: "file:///{p}", name: "t" }]);
  });

  test.each([{}, { prompts: "a" }, { prompts: [{ title: "no name" }] }, { prompts: [], nextCursor: 7 }])(
    "%j is no list",
    async (result) => {
      const client = await connect(memory(() => ({ resultType: "complete", ...result })));
      await expect(client.listPrompts()).rejects.toMatchObject({ code: "message_invalid" });
    },
  );
});

describe("completion", () => {
  test("sends what is typed and what is settled, and returns the values", async () => {
    const transport = memory(() => ({
      resultType: "complete",
      completion: { values: ["paris", "park"], total: 3, hasMore: true },
    }));
    const client = await connect(transport);
    const values = await client.complete(
      { type: "ref/resource", uri: "test://{city}/{street}" },
      { name: "street", value: "par" },
      { settled: { city: "paris" } },
    );
    expect(values).toEqual({ values: ["paris", "park"], total: 3, hasMore: true });
    const { _meta, ...params } = transport.requests[0]?.params ?? {};
    expect(params).toEqual({
      ref: { type: "ref/resource", uri: "test://{city}/{street}" },
      argument: { name: "street", value: "par" },
      context: { arguments: { city: "paris" } },
    });
  });
});

describe("resources that do not exist", () => {
  test.each([
    [-32602, undefined, true],
    [-32602, { uri: "file:///a" }, true],
    [-32002, { uri: "file:///a" }, true],
    [-32602, { reason: "state_refused" }, false],
    [-32602, { reason: "state_expired" }, false],
    [-32603, undefined, false],
  ])("C12: %i with %j", async (code, data, expected) => {
    const client = await connect(memory(() => ({ error: { code, message: "Resource not found", data } })));
    const error = await client.readResource("file:///a").catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: "RpcError", code });
    expect(isResourceNotFound(error)).toBe(expected);
    expect(isResourceNotFound(new Error("other"))).toBe(false);
  });
});
