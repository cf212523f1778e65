// Whether a tool's structured result fits the schema that the tool promised.
import { checkJson, type Tool } from "../protocol/index.ts";

type OutputSchema = NonNullable<Tool["outputSchema"]>;
/** What is wrong with a value; undefined when nothing is. */
type Check = (value: unknown) => string | undefined;

/** Checks values against schemas of servers; each schema is compiled once. */
export interface OutputChecker {
  /** What is wrong with a tool's value, or with the schema itself; undefined when nothing is. */
  problemWith(tool: string, schema: OutputSchema, value: unknown): Promise<string | undefined>;
}

const MAX_SCHEMA_SIZE = 256 * 1024;
const DIALECT_2020 = "https://json-schema.org/draft/2020-12/schema";
const DIALECT_7 = "http://json-schema.org/draft-07/schema";

/** Makes a checker; ajv is loaded with the first schema. */
export function createOutputChecker(onWarning: (warning: string) => void): OutputChecker {
  const checks = new WeakMap<OutputSchema, Promise<Check>>();
  return {
    async problemWith(tool, schema, value) {
      let compiled = checks.get(schema);
      if (compiled === undefined) {
        compiled = compile(schema).catch((error: Error): Check => {
          if (!(error instanceof EvalError)) return () => `the schema cannot be used: ${error.message}`;
          onWarning(`This runtime forbids compiling schemas: results of the tool "${tool}" are not checked.`);
          return () => undefined;
        });
        checks.set(schema, compiled);
      }
      return (await compiled)(value);
    },
  };
}

async function compile(schema: OutputSchema): Promise<Check> {
  checkJson(schema);
  if (JSON.stringify(schema).length > MAX_SCHEMA_SIZE)
    throw new Error(`it is larger than ${MAX_SCHEMA_SIZE} characters`);
  const ajv = await createAjv(schema.$schema);
  const validate = ajv.compile(schema);
  return (value) => (validate(value) ? undefined : ajv.errorsText(validate.errors, { dataVar: "structuredContent" }));
}

// An instance a schema: schemas of one server cannot refer to, or collide with, those of another tool. Nothing is given
// to load remote schemas with, so that a reference to the network fails to compile.
async function createAjv(dialect: string | undefined): Promise<import("ajv").Ajv> {
  const options = { strict: false, validateSchema: false, logger: false } as const;
  const { default: addFormats } = await import("ajv-formats");
  const ajv = await construct(dialect?.replace(/#$/, "") ?? DIALECT_2020, options);
  addFormats.default(ajv);
  return ajv;
}

async function construct(dialect: string, options: import("ajv").Options): Promise<import("ajv").Ajv> {
  if (dialect === DIALECT_2020) return new (await import("ajv/dist/2020.js")).Ajv2020(options);
  if (dialect === DIALECT_7) return new (await import("ajv")).Ajv(options);
  throw new Error(`its dialect ${dialect} is neither 2020-12 nor draft-07`);
}
