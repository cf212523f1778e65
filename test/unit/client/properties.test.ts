import fc from "fast-check";
import { expect, test } from "vitest";
import { connect } from "../../../src/client.ts";
import { form, inputRequired, memory, text } from "./fixtures.ts";

const names = fc.oneof(fc.string(), fc.constantFrom("__proto__", "constructor", "toString", "hasOwnProperty", ""));

test("C2, C6: whatever the state and the arguments are, the retry has them unchanged", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.option(fc.string({ unit: "binary" }), { nil: undefined }),
      fc.dictionary(names, fc.jsonValue()),
      async (state, args) => {
        const transport = memory(({ params }) =>
          params?.inputResponses === undefined
            ? inputRequired({ a: form({ x: { type: "string" } }) }, state)
            : text("done"),
        );
        const client = await connect(transport, { form: () => "decline" });
        await client.callTool("work", args);
        const [first, retry] = transport.requests;
        expect(retry?.params?.requestState).toBe(state);
        expect(Object.hasOwn(retry?.params ?? {}, "requestState")).toBe(state !== undefined);
        expect(JSON.stringify(retry?.params?.arguments)).toBe(JSON.stringify(args));
        expect(JSON.stringify(first?.params?.arguments)).toBe(JSON.stringify(args));
        expect(retry?.id).not.toBe(first?.id);
      },
    ),
    { numRuns: 200 },
  );
});

test("C1: whatever the keys are, each question gets its own answer", async () => {
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(names, { minLength: 1, maxLength: 8 }), async (keys) => {
      const requests = JSON.parse(
        `{${keys.map((key) => `${JSON.stringify(key)}:${JSON.stringify(form({ x: { type: "string" } }))}`).join(",")}}`,
      );
      const transport = memory(({ params }) =>
        params?.inputResponses === undefined ? inputRequired(requests, "s") : text("done"),
      );
      const client = await connect(transport, { form: ({ key }) => ({ x: `for ${key}` }) });
      await client.callTool("work");
      const responses = transport.requests[1]?.params?.inputResponses as Record<string, { content: { x: string } }>;
      const given = Object.entries(responses).map(([key, { content }]) => [key, content.x]);
      expect(given.sort()).toEqual(keys.map((key) => [key, `for ${key}`]).sort());
    }),
    { numRuns: 200 },
  );
});
