// Schemas that a server wrote, compiled so that neither they nor what they judge can hold the process up.
import type { Ajv, Options } from "ajv";
import { checkJson, isObject, type Tool } from "../protocol/index.ts";
import { loadMeter } from "./meter.ts";
import { loadPatterns } from "./patterns.ts";

/** A schema of somebody else. */
export type ForeignSchema = NonNullable<Tool["outputSchema"]>;
/** What is wrong with a value; undefined when nothing is. */
export type Check = (value: unknown) => string | undefined;

const MAX_SCHEMA_SIZE = 256 * 1024;
/** A pattern is part of what is said about it. */
const MAX_PROBLEM_SIZE = 500;
/** Compiling takes more than twice as long for twice as many: about two seconds for these. */
const MAX_OBJECTS = 1_000;
// As they are checked in linear time. Other formats are annotations, as they are by default in JSON Schema.
const FULL_FORMATS = [
  "date",
  "time",
  "date-time",
  "duration",
  "hostname",
  "ipv4",
  "ipv6",
  "uuid",
  "json-pointer",
  "relative-json-pointer",
] as const;
const FAST_FORMATS = ["email", "uri", "uri-reference"] as const;

const latest = async (options: Options): Promise<Ajv> => new (await import("ajv/dist/2020.js")).Ajv2020(options);
const seventh = async (options: Options): Promise<Ajv> => new (await import("ajv")).Ajv(options);
/** By the name of the dialect, whatever its scheme and fragment. Draft-06 is draft-07 without a few keywords. */
const DIALECTS: Readonly<Record<string, (options: Options) => Promise<Ajv>>> = {
  "draft/2020-12/schema": latest,
  "draft/2019-09/schema": async (options) => new (await import("ajv/dist/2019.js")).Ajv2019(options),
  "draft-07/schema": seventh,
  "draft-06/schema": seventh,
  "draft-04/schema": async (options) => new (await import("ajv-draft-04")).default.default(options),
};

/**
 * Compiles a schema; throws an Error that says why it cannot be used, an EvalError where the runtime forbids it.
 *
 * @param onUnchecked hears of a pattern that is not checked, and why
 */
export async function compileForeign(
  schema: ForeignSchema,
  onUnchecked: (pattern: string, reason: string) => void,
): Promise<Check> {
  checkJson(schema);
  const text = JSON.stringify(schema);
  if (text.length > MAX_SCHEMA_SIZE) throw new Error(`it is larger than ${MAX_SCHEMA_SIZE} characters`);
  if (countObjects(schema) > MAX_OBJECTS) throw new Error(`it holds more than ${MAX_OBJECTS} objects`);
  const meter = await loadMeter();
  const patterns = text.includes('"pattern') ? await loadPatterns(meter.spend, onUnchecked) : undefined;
  // An instance a schema: schemas of one server cannot refer to, or collide with, those of another tool. Nothing is given
  // to load remote schemas with, so that a reference to the network fails to compile. References are not written out in
  // place, which could make a schema of any length.
  const ajv = await construct(schema.$schema, {
    strict: false,
    validateSchema: false,
    logger: false,
    inlineRefs: false,
    ownProperties: true,
    ...(patterns === undefined ? {} : { code: { regExp: patterns.regExp } }),
  });
  meter.install(ajv);
  // ajv's own keyword: it would make the verdict a promise.
  const validate = ajv.compile({ ...schema, $async: false });
  const problemWith: Check = (value) =>
    validate(value)
      ? undefined
      : ajv.errorsText(validate.errors, { dataVar: "structuredContent" }).slice(0, MAX_PROBLEM_SIZE);
  return (value) => {
    meter.reset();
    const problem = problemWith(value);
    if (problem === undefined || patterns === undefined) return problem;
    return patterns.again(problem, () => problemWith(value));
  };
}

function countObjects(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return Object.values(value).reduce((sum: number, member) => sum + countObjects(member), isObject(value) ? 1 : 0);
}

async function construct(dialect: string | undefined, options: Options): Promise<Ajv> {
  const name = dialect?.replace(/^https?:\/\/json-schema\.org\//, "").replace(/#$/, "") ?? "draft/2020-12/schema";
  if (!Object.hasOwn(DIALECTS, name)) throw new Error(`its dialect ${JSON.stringify(dialect)} is not known`);
  const ajv = await (DIALECTS[name] as typeof latest)(options);
  const { default: addFormats } = await import("ajv-formats");
  addFormats.default(ajv, { mode: "full", formats: [...FULL_FORMATS] });
  addFormats.default(ajv, { mode: "fast", formats: [...FAST_FORMATS] });
  return ajv;
}
