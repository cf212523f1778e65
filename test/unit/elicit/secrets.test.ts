import { describe, expect, test } from "vitest";
import { z } from "zod";
import { compileForm, type RestrictedSchema, readForm } from "../../../src/elicit/index.ts";

const end =
  'and secrets must not pass through the client. Ask with ctx.elicitUrl and take the secret on your own page; if it is no secret, say so with "x-volley-not-secret": true in the metadata of the field.';

describe("S22: a form does not ask for secrets", () => {
  test.each([
    "password",
    "Passwd",
    "secret",
    "api_key",
    "apiKey",
    "API-KEY",
    "access_token",
    "client_secret",
    "privateKey",
    "credit_card_number",
    "cvv",
    "otp",
  ])("a text called %s is refused, with the way out", (name) => {
    expect(() => compileForm(z.object({ [name]: z.string() }))).toThrow(
      `Field "${name}" is named like a secret, ${end}`,
    );
  });

  test("explicit hints of the schema are refused", () => {
    expect(() => compileForm(z.object({ a: z.string().meta({ format: "password" }) }))).toThrow(
      `Field "a" has the format "password", ${end}`,
    );
    expect(() => compileForm(z.object({ a: z.string().meta({ writeOnly: true }) }))).toThrow(
      `Field "a" is writeOnly, ${end}`,
    );
    const plain = { type: "object", properties: { a: { type: "string", format: "password" } } };
    expect(() => compileForm(plain as unknown as RestrictedSchema)).toThrow(
      `Field "a" has the format "password", ${end}`,
    );
    expect(() => compileForm({ type: "object", properties: { cvc: { type: "integer" } } })).toThrow(
      `Field "cvc" is named like a secret, ${end}`,
    );
  });

  test("names that only contain such a word, and fields that cannot hold a secret, are fine", () => {
    const schema = z.object({
      password_hint: z.string(),
      secretary: z.string(),
      token: z.string(),
      email: z.string(),
      otp: z.boolean(),
      credentials: z.enum(["ask", "skip"]),
    });
    expect(compileForm(schema).fields).toHaveLength(6);
  });

  test("the author may say that it is no secret; the wire does not carry that", () => {
    const notSecret = { "x-volley-not-secret": true } as const;
    const expected = { type: "object", properties: { secret: { type: "string" } } };
    expect(compileForm(z.object({ secret: z.string().meta(notSecret).nullable() })).requestedSchema).toEqual(expected);
    expect(compileForm(z.object({ secret: z.string().optional().meta(notSecret) })).requestedSchema).toEqual(expected);
    expect(
      compileForm({ type: "object", properties: { secret: { type: "string", ...notSecret } } }).requestedSchema,
    ).toEqual(expected);
  });

  test("a client still shows what another server asks for", () => {
    expect(readForm({ type: "object", properties: { password: { type: "string" } } })).toHaveLength(1);
  });
});
