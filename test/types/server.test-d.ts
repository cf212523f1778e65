import { toStandardJsonSchema } from "@valibot/to-json-schema";
import * as v from "valibot";
import { expectTypeOf, test } from "vitest";
import * as z from "zod";
import { createServer, type ToolOptions } from "../../src/index.ts";
import { jsonSchema } from "../../src/json-schema.ts";

const server = createServer({ name: "types", version: "1.0.0" });

test("a tool's arguments are what its schema makes of them", () => {
  server.tool("a", { input: z.object({ id: z.number(), when: z.string().default("now") }) }, (args) => {
    expectTypeOf(args).toEqualTypeOf<{ id: number; when: string }>();
    return "";
  });
  server.tool("b", {}, (args) => {
    expectTypeOf(args).toEqualTypeOf<Record<string, never>>();
  });
  server.tool("c", { input: jsonSchema<{ id: number }>({ type: "object" }) }, ({ id }) => {
    expectTypeOf(id).toEqualTypeOf<number>();
    return { content: [{ type: "text", text: "c" }] };
  });
});

test("a tool returns text, content, a result, or a value for its output schema", () => {
  server.tool("a", {}, () => [{ type: "text", text: "a" }]);
  server.tool("b", {}, async () => ({ content: [{ type: "text", text: "b" }], isError: true }));
  server.tool("c", {}, () => ({ resultType: "input_required", requestState: "x" }));
  server.tool("d", { output: z.object({ sum: z.number() }) }, () => ({ sum: 1 }));
  server.tool("e", { output: z.object({ sum: z.number() }) }, () => ({
    structuredContent: { sum: 1 },
    content: [{ type: "text", text: "e" }],
  }));
  server.tool("f", { output: z.object({ sum: z.number() }) }, () => ({
    isError: true,
    content: [{ type: "text", text: "f" }],
  }));
  server.tool("g", { output: jsonSchema({ type: "array" }) }, () => [1, 2]);
  // @ts-expect-error a value needs an output schema
  server.tool("h", {}, () => ({ sum: 1 }));
  // @ts-expect-error not what the schema says
  server.tool("i", { output: z.object({ sum: z.number() }) }, () => ({ sum: "1" }));
});

test("a template's variables are those in it", () => {
  server.resourceTemplate("a", "db://{table}/{row}{?columns*,limit}", {}, (variables) => {
    expectTypeOf(variables).toEqualTypeOf<{
      readonly table: string;
      readonly row: string;
      readonly columns: string;
      readonly limit: string;
    }>();
    return undefined;
  });
  server.resourceTemplate("b", "x://{id}" as string, {}, (variables) => {
    expectTypeOf(variables).toEqualTypeOf<Readonly<Record<string, string>>>();
    return new Uint8Array();
  });
});

test("a prompt's arguments and messages", () => {
  server.prompt("a", { arguments: z.object({ who: z.string() }), complete: { who: (value) => [value] } }, ({ who }) => [
    { role: "user", content: { type: "text", text: who } },
  ]);
  // @ts-expect-error a number is no prompt
  server.prompt("b", {}, () => 1);
});

test("a structured value keeps its literals", () => {
  const output = z.object({ kind: z.enum(["a", "b"]) });
  server.tool("a", { output }, (_args) => ({ kind: "a" }));
  server.tool("b", { output }, async (_args) => ({ kind: "b" }));
  server.tool("c", { output }, () => ({ kind: "a" as const }));
  // @ts-expect-error a literal that is not in the schema
  server.tool("d", { output }, (_args) => ({ kind: "c" }));
  // @ts-expect-error a field is missing
  server.tool("e", { output }, async (_args) => ({}));
});

test("rule 11: options that do not exist do not compile", () => {
  // @ts-expect-error misspelt
  server.tool("a", { description: "d", singelUse: true }, () => "");
  server.tool(
    "b",
    {
      input: z.object({ id: z.number() }),
      // @ts-expect-error there is none
      readOnly: true,
      // @ts-expect-error there is none
      timeout: 3,
    },
    ({ id }) => {
      expectTypeOf(id).toEqualTypeOf<number>();
      return "";
    },
  );
  // @ts-expect-error none that exists at all
  server.tool("c", { inputSchema: {} }, () => "");
  const inherited = { description: "d", maxStateByte: 1 };
  // @ts-expect-error misspelt, elsewhere
  server.tool("d", inherited, () => "");
  const options: ToolOptions = {};
  server.tool("e", options, () => "");
  server.tool("f", { salient: ({ id }) => ({ id }), annotations: { readOnlyHint: true }, task: "optional" }, () => "");
  // @ts-expect-error misspelt
  server.prompt("g", { argument: z.object({}) }, () => "");
  // @ts-expect-error misspelt
  server.resource("h", "x:y", { mimetype: "text/plain" }, () => "");
  // @ts-expect-error misspelt
  server.resourceTemplate("i", "x:{y}", { lists: () => [] }, () => "");
  // @ts-expect-error misspelt
  createServer({ name: "a", version: "1", auth: () => undefined });
  // @ts-expect-error misspelt
  createServer({ name: "a", version: "1", limits: { inflight: 1 } });
});

test("a schema that does not convert itself says how", () => {
  const schema = v.object({ id: v.number() });
  server.tool("a", { input: toStandardJsonSchema(schema) }, ({ id }) => {
    expectTypeOf(id).toEqualTypeOf<number>();
    return "";
  });
  // @ts-expect-error "does not convert itself to JSON Schema": "valibot: toStandardJsonSchema(schema) of @valibot/to-json-schema"
  server.tool("b", { input: schema }, () => "");
});
