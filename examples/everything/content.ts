import { z } from "zod";
import { PNG, WAV } from "./samples.ts";
import { jsonSchema, RpcError, type Server, ToolError } from "./volley.ts";

/** Tools that answer at once: every kind of content, structured results, errors, JSON Schema, parameter headers. */
export function registerContent(server: Server): void {
  server.tool("test_simple_text", { description: "Answers with one line of text" }, () => {
    return "This is a simple text response for testing.";
  });
  server.tool("test_image_content", { description: "Answers with an image" }, () => [
    { type: "image", data: PNG, mimeType: "image/png" },
  ]);
  server.tool("test_audio_content", { description: "Answers with a sound" }, () => [
    { type: "audio", data: WAV, mimeType: "audio/wav" },
  ]);
  server.tool("test_embedded_resource", { description: "Answers with a resource inside" }, () => [
    {
      type: "resource",
      resource: {
        uri: "test://embedded-resource",
        mimeType: "text/plain",
        text: "This is an embedded resource content.",
      },
    },
  ]);
  server.tool("test_multiple_content_types", { description: "Answers with text, an image and a resource" }, () => [
    { type: "text", text: "Multiple content types test:" },
    { type: "image", data: PNG, mimeType: "image/png" },
    {
      type: "resource",
      resource: {
        uri: "test://mixed-content-resource",
        mimeType: "application/json",
        text: JSON.stringify({ test: "data", value: 123 }),
      },
    },
  ]);
  server.tool("test_error_handling", { description: "Fails" }, () => {
    throw new ToolError("This tool intentionally returns an error for testing");
  });
  server.tool("fail_with_code", { description: "Fails with a JSON-RPC error of its own" }, () => {
    throw new RpcError(-31_007, "The tracker is closed for the night.", { opensAt: "08:00" });
  });

  server.tool(
    "add_numbers",
    {
      title: "Add two numbers",
      description: "Adds two numbers and says so in words and as data",
      input: z.object({ a: z.number(), b: z.number() }),
      output: z.object({ sum: z.number() }),
      annotations: { readOnlyHint: true, idempotentHint: true },
      icons: [{ src: "https://example.com/plus.svg", mimeType: "image/svg+xml", sizes: ["any"] }],
      _meta: { "example.com/team": "arithmetic" },
    },
    ({ a, b }) => ({ sum: a + b }),
  );
  server.tool(
    "test_x_mcp_header",
    {
      description: "Says which region it was called for; proxies may route by the header",
      input: z.object({
        region: z.string().optional().meta({ "x-mcp-header": "Region" }),
        level: z.int().optional(),
      }),
    },
    ({ region }) => `region=${region ?? "none"}`,
  );
  server.tool(
    "json_schema_2020_12_tool",
    { description: "Takes a contact, described by JSON Schema 2020-12", input: CONTACT },
    (contact) => `Contact noted: ${JSON.stringify(contact)}`,
  );
}

const CONTACT = jsonSchema({
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  $defs: {
    address: {
      $anchor: "addressDef",
      type: "object",
      properties: { street: { type: "string" }, city: { type: "string" } },
    },
  },
  properties: {
    name: { type: "string" },
    address: { $ref: "#/$defs/address" },
    contactMethod: { type: "string", enum: ["phone", "email"] },
    phone: { type: "string" },
    email: { type: "string" },
  },
  allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
  if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { required: ["phone"] },
  else: { required: ["email"] },
  additionalProperties: false,
});
