// What can be computed when a tool is registered is not computed again: not for a request, not for a round.
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import * as z from "zod";
import { createServer, type Server, type StandardSchema } from "../../src/index.ts";
import { jsonSchema } from "../../src/json-schema.ts";
import { accept, message, serve, type Wire } from "./wire.ts";

/** How often a schema was converted, and how often it checked a value. */
interface Counts {
  converted: number;
  validated: number;
}

/** A schema of zod that counts what is asked of it. */
function counted<T>(schema: StandardSchema<T>, counts: Counts): StandardSchema<T> {
  const { jsonSchema, validate, ...rest } = schema["~standard"];
  const convert = (side: "input" | "output") => (options: { readonly target: string }) => {
    counts.converted++;
    return jsonSchema[side](options as never);
  };
  return {
    "~standard": {
      ...rest,
      validate(value: unknown) {
        counts.validated++;
        return validate(value);
      },
      jsonSchema: { input: convert("input"), output: convert("output") },
    },
  } as StandardSchema<T>;
}

const TOOLS = 50;
let server: Server;
let wire: Wire;
let inputs: Counts[];
let outputs: Counts[];
let form: Counts;
beforeEach(async () => {
  server = createServer({ name: "counts", version: "1.0.0", singleInstance: true });
  inputs = Array.from({ length: TOOLS }, () => ({ converted: 0, validated: 0 }));
  outputs = Array.from({ length: TOOLS }, () => ({ converted: 0, validated: 0 }));
  form = { converted: 0, validated: 0 };
  const Name = counted(z.object({ name: z.string() }), form);
  inputs.forEach((counts, index) => {
    const input = counted(z.object({ id: z.int().meta({ "x-mcp-header": "Id" }) }), counts);
    const output = counted(z.object({ text: z.string() }), outputs[index] as Counts);
    server.tool(`tool_${index}`, { input, output }, async ({ id }, ctx) => {
      const { name } = await ctx.elicit("name", { message: "Name?", schema: Name as never });
      return { text: `${id} ${name}` };
    });
  });
  wire = await serve(server);
});
afterEach(() => wire[Symbol.asyncDispose]());

const call = (index: number, id: number, leg = {}): ReturnType<Wire["send"]> =>
  wire.send(message("tools/call", { name: `tool_${index}`, arguments: { id } }, leg), { "mcp-param-id": String(id) });

describe("1,000 requests to 50 tools", () => {
  test("case 1: each schema is converted once, and the list is the same text each time", async () => {
    const lists = new Set<string>();
    for (let turn = 0; turn < 10; turn++) {
      const batch = Array.from({ length: TOOLS }, async (_, index) => {
        const first = await call(index, index);
        const state = first.json.result.requestState;
        const last = await call(index, index, { state, answers: { name: accept({ name: "Ada" }) } });
        expect(last.json.result.structuredContent).toEqual({ text: `${index} Ada` });
      });
      await Promise.all(batch);
      lists.add((await wire.send(message("tools/list", {}))).text);
    }
    expect(inputs.map(({ converted }) => converted)).toEqual(Array(TOOLS).fill(1));
    expect(outputs.map(({ converted }) => converted)).toEqual(Array(TOOLS).fill(1));
    // Forms are made once for a schema, however many tools and rounds ask with it.
    expect(form.converted).toBe(1);
    expect(lists.size).toBe(1);
    // And they are used: arguments in both rounds, results and answers in the last.
    expect(inputs[0]?.validated).toBe(20);
    expect(outputs[0]?.validated).toBe(10);
    expect(form.validated).toBe(500);
  });

  test("case 1: a plain JSON Schema is compiled once, when it is wrapped", async () => {
    const compile = vi.spyOn(Ajv2020.prototype, "compile");
    const input = jsonSchema({ type: "object", properties: { n: { type: "integer" } }, required: ["n"] });
    server.tool("plain", { input }, () => "done");
    for (let n = 0; n < 20; n++)
      expect((await wire.call("plain", { args: { n } })).json.result.isError).toBe(undefined);
    expect((await wire.call("plain", { args: { n: "x" } })).json.result.isError).toBe(true);
    expect(compile).toHaveBeenCalledTimes(1);
    compile.mockRestore();
  });
});
