import type { StandardIssue, StandardResult, StandardSchema } from "../../elicit/index.ts";
import { isObject, VolleyError } from "../../protocol/index.ts";

/** An author's schema, converted once. */
export interface Checker {
  readonly json: Record<string, unknown>;
  validate(value: unknown): StandardResult<unknown> | Promise<StandardResult<unknown>>;
}

/**
 * Reads an author's schema at registration: the JSON Schema to publish and the function that checks values.
 *
 * @throws VolleyError `registration_invalid`, naming the way out
 */
export function readSchema(schema: unknown, side: "input" | "output", where: string): Checker {
  const standard: unknown =
    typeof schema === "function" || isObject(schema) ? (schema as Record<string, unknown>)["~standard"] : undefined;
  if (!isObject(standard) || typeof standard.validate !== "function") {
    throw new VolleyError(
      "registration_invalid",
      `${where} is no Standard Schema. Use zod, valibot or arktype, or wrap plain JSON Schema: jsonSchema({ ... }) from "volley-mcp/json-schema".`,
    );
  }
  if (!isObject(standard.jsonSchema)) {
    throw new VolleyError(
      "registration_invalid",
      `${where} does not convert itself to JSON Schema. That needs zod 4.2, arktype 2.2, or valibot with toStandardJsonSchema from "@valibot/to-json-schema".`,
    );
  }
  const checked = (schema as StandardSchema)["~standard"];
  let json: Record<string, unknown>;
  try {
    json = checked.jsonSchema[side]({ target: "draft-2020-12" });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new VolleyError("registration_invalid", `${where} cannot be said in JSON Schema: ${reason}`, { cause });
  }
  return { json, validate: (value) => checked.validate(value) };
}

/** As {@link readSchema}, for what must be an object on the wire: arguments. */
export function readObjectSchema(schema: unknown, where: string): Checker {
  const checker = readSchema(schema, "input", where);
  const { json } = checker;
  if (json.type === "object") return checker;
  const composed = ["anyOf", "oneOf", "allOf", "$ref"].some((keyword) => Object.hasOwn(json, keyword));
  if (json.type === undefined && composed) return { ...checker, json: { ...json, type: "object" } };
  throw new VolleyError("registration_invalid", `${where} must describe an object.`);
}

const SHOWN = 10;

/** Objections as lines that a model can act on: `- field: what is wrong`. */
export function explain(issues: readonly StandardIssue[]): string {
  const lines = issues.slice(0, SHOWN).map((issue) => {
    const path = (issue.path ?? []).map((part) => String(typeof part === "object" ? part.key : part)).join(".");
    return path ? `- ${path}: ${issue.message}` : `- ${issue.message}`;
  });
  if (issues.length > SHOWN) lines.push(`- and ${issues.length - SHOWN} more`);
  return lines.join("\n");
}
