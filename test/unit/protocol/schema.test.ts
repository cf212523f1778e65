// Our guards against the published JSON Schema: both accept the examples, and both judge every small mutation of them alike.
import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { PAIRS } from "./schema-pairs.ts";

const ajv = new Ajv2020({ strict: false, validateFormats: false });
const published = JSON.parse(
  readFileSync(new URL("../../fixtures/mcp-2026-07-28.schema.json", import.meta.url), "utf8"),
);
// Made from the TypeScript text, which decides: there a JSON value may be null or a fraction, and a size is a number.
published.$defs.JSONValue = {};
published.$defs.Resource.properties.size.type = "number";
published.$defs.ResourceLink.properties.size.type = "number";
ajv.addSchema(published, "mcp");

function schema(definition: string): (value: unknown) => boolean {
  const validate = ajv.compile({ $ref: `mcp#/$defs/${definition}` });
  return (value) => validate(value) === true;
}

const REPLACEMENTS: readonly unknown[] = [undefined, null, true, 0, 1.5, -1, "", "x", [], [null], {}, { x: null }];

/** Every value that differs from the given one in one place, with the place. */
function* mutations(value: unknown): Generator<{ path: string; value: unknown }> {
  for (const replacement of REPLACEMENTS) yield { path: "", value: replacement };
  if (typeof value !== "object" || value === null) return;
  for (const [key, member] of Object.entries(value)) {
    for (const mutation of mutations(member)) {
      const copy = structuredClone(value) as Record<string, unknown>;
      if (mutation.value !== undefined) copy[key] = mutation.value;
      else if (Array.isArray(copy)) copy.splice(Number(key), 1);
      else delete copy[key];
      yield { path: `${mutation.path === "" ? key : `${key}/${mutation.path}`}`, value: copy };
    }
  }
}

function at(value: unknown, path: string): string {
  if (path === "") return JSON.stringify(value) ?? "nothing";
  const [key = "", ...rest] = path.split(/(?<!modelcontextprotocol)\//);
  return at((value as Record<string, unknown> | undefined)?.[key], rest.join("/"));
}

/** The listed place that covers a path: the place itself, or what lies below it for one that ends in a slash. */
function listed(differs: Record<string, string>, path: string): string | undefined {
  return Object.keys(differs).find((place) => (place.endsWith("/") ? path.startsWith(place) : path === place));
}

describe.each(PAIRS)("$definition", ({ definition, guard, examples, differs = {} }) => {
  const valid = schema(definition);

  test("accepts the examples, by schema and by guard", () => {
    for (const example of examples) {
      expect({ example, schema: valid(example), guard: guard(example) }).toEqual({
        example,
        schema: true,
        guard: true,
      });
    }
  });

  test("judges every mutation of the examples as the schema does, listed places apart", () => {
    const disagreements = new Set<string>();
    const idle = new Set(Object.keys(differs));
    for (const example of examples) {
      for (const { path, value } of mutations(example)) {
        if (valid(value) === guard(value)) continue;
        const place = listed(differs, path);
        if (place !== undefined) idle.delete(place);
        else disagreements.add(`${path}: only the ${guard(value) ? "guard" : "schema"} takes ${at(value, path)}`);
      }
    }
    expect([...disagreements]).toEqual([]);
    expect([...idle]).toEqual([]);
  });
});
