import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import type { StandardIssue, StandardSchema } from "../elicit/index.ts";
import { checkOptions, hasUniqueItems, isObject, type OptionNames, VolleyError } from "../protocol/index.ts";

export interface JsonSchemaOptions {
  /** Nested schemas, the outermost counted. Default 32. */
  readonly maxDepth?: number;
  /** Schemas in all. Default 1,000. */
  readonly maxSchemas?: number;
}

const OPTIONS: OptionNames<JsonSchemaOptions> = { maxDepth: true, maxSchemas: true };

const DIALECT = /^https?:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/;
const IDS = ["$id", "$anchor", "$dynamicAnchor"];
// Keywords whose value is data, however much it looks like a schema.
const DATA = new Set(["const", "enum", "default", "examples"]);
// Keywords whose members are schemas by names of the author's choice.
const MAPS = new Set(["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"]);

/**
 * Wraps a plain JSON Schema so that it can be a tool's `input` or `output`.
 *
 * Dialect 2020-12 with formats. References lead into the schema itself: nothing is ever fetched. Values are checked, never
 * changed: defaults are hints. Compiling generates code, which runtimes without `eval` (workerd) refuse.
 *
 * @throws VolleyError `registration_invalid` for a schema that is not valid, of another dialect, with a reference to elsewhere,
 *   or nested deeper or larger than the limits
 * @example
 * ```ts
 * const input = jsonSchema<{ city: string }>({
 *   type: "object", properties: { city: { type: "string" } }, required: ["city"],
 * });
 * ```
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#json-schema-usage
 */
export function jsonSchema<T = Record<string, unknown>>(
  schema: Readonly<Record<string, unknown>>,
  options: JsonSchemaOptions = {},
): StandardSchema<T> {
  checkOptions("jsonSchema", options, OPTIONS, "registration_invalid");
  const json = structuredClone(schema) as Record<string, unknown>;
  const { hasIds } = survey(json, options);
  const dialect = json.$schema;
  if (dialect !== undefined && !(typeof dialect === "string" && DIALECT.test(dialect))) {
    throw invalid(`its dialect is ${JSON.stringify(dialect)}; only JSON Schema 2020-12 is supported`);
  }
  const validate = compile(json, hasIds);
  return {
    "~standard": {
      version: 1,
      vendor: "volley-mcp",
      validate: (value) => (validate(value) ? { value: value as T } : { issues: (validate.errors ?? []).map(toIssue) }),
      jsonSchema: { input: () => json, output: () => json },
    },
  };
}

function createAjv(): Ajv2020 {
  // Errors stop at the first: a large body of faults must not cost more than a sound one. Only own properties count,
  // whatever they are called.
  const ajv = new Ajv2020({
    strict: false,
    allErrors: false,
    ownProperties: true,
    logger: false,
    validateSchema: true,
  });
  addFormats.default(ajv);
  // ajv's own take quadratic time, and a caller's body may be large.
  ajv.addFormat("url", (text: string) => /^(?:https?|ftp):\/\//i.test(text) && URL.canParse(text));
  ajv.removeKeyword("uniqueItems");
  ajv.addKeyword({
    keyword: "uniqueItems",
    type: "array",
    schemaType: "boolean",
    error: { message: "must NOT have duplicate items" },
    validate: (isAsked: boolean, items: unknown[]) => !isAsked || hasUniqueItems(items),
  });
  return ajv;
}

let shared: Ajv2020 | undefined;

function compile(json: Record<string, unknown>, hasIds: boolean): ValidateFunction {
  // Names in one schema must not meet those of another; schemas without any share an instance.
  shared ??= createAjv();
  const ajv = hasIds ? createAjv() : shared;
  try {
    return ajv.compile(json);
  } catch (cause) {
    throw invalid(cause instanceof Error ? cause.message : String(cause), cause);
  } finally {
    ajv.removeSchema(json);
  }
}

function invalid(reason: string, cause?: unknown): VolleyError {
  return new VolleyError("registration_invalid", `The JSON Schema cannot be used: ${reason}.`, { cause });
}

/** Walks every subschema before a compiler sees it. */
function survey(root: unknown, { maxDepth = 32, maxSchemas = 1_000 }: JsonSchemaOptions): { readonly hasIds: boolean } {
  let count = 0;
  let hasIds = false;
  const visit = (schema: unknown, depth: number): void => {
    if (!isObject(schema)) return;
    if (depth > maxDepth) throw invalid(`it is nested deeper than ${maxDepth} schemas`);
    if (++count > maxSchemas) throw invalid(`it holds more than ${maxSchemas} schemas`);
    if (IDS.some((keyword) => Object.hasOwn(schema, keyword))) hasIds = true;
    for (const keyword of ["$ref", "$dynamicRef"]) {
      const reference = schema[keyword];
      if (typeof reference === "string" && !reference.startsWith("#")) {
        throw invalid(
          `"${keyword}": ${JSON.stringify(reference)} leads elsewhere; put the schema into $defs and refer to "#/$defs/..."`,
        );
      }
    }
    for (const [keyword, value] of Object.entries(schema)) {
      if (DATA.has(keyword)) continue;
      if (MAPS.has(keyword) && isObject(value)) for (const member of Object.values(value)) visit(member, depth + 1);
      else if (Array.isArray(value)) for (const member of value) visit(member, depth + 1);
      else visit(value, depth + 1);
    }
  };
  visit(root, 1);
  return { hasIds };
}

function toIssue({ instancePath, message = "is not valid", params, keyword }: ErrorObject): StandardIssue {
  const path = instancePath
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
  return { path, message: message + detail(keyword, params) };
}

/** What ajv's message leaves out and a model needs. */
function detail(keyword: string, params: Record<string, unknown>): string {
  if (keyword === "enum") return `: ${JSON.stringify(params.allowedValues)}`;
  if (keyword === "const") return `: ${JSON.stringify(params.allowedValue)}`;
  if (keyword === "additionalProperties") return `: ${JSON.stringify(params.additionalProperty)}`;
  return "";
}
