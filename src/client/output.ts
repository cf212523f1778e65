// Whether a tool's structured result fits the schema that the tool promised.
import type { Check, ForeignSchema } from "./foreign-schema.ts";

/** Checks values against schemas of servers; each schema is compiled once. */
export interface OutputChecker {
  /** What is wrong with a tool's value; undefined when nothing is, or when the schema cannot tell: that is a warning, once a tool. */
  problemWith(tool: string, schema: ForeignSchema, value: unknown): Promise<string | undefined>;
}

/** Makes a checker; what it compiles with is loaded with the first schema. */
export function createOutputChecker(onWarning: (warning: string) => void): OutputChecker {
  const checks = new WeakMap<ForeignSchema, Promise<Check>>();
  const warned = new Set<string>();

  function warn(tool: string, warning: string): void {
    if (warned.has(tool)) return;
    warned.add(tool);
    onWarning(warning);
  }

  async function compile(tool: string, schema: ForeignSchema): Promise<Check> {
    const unchecked = (pattern: string, reason: string): void =>
      warn(
        tool,
        `The output schema of the tool "${tool}" has the pattern ${JSON.stringify(pattern.slice(0, 200))}, which is not checked: ${reason}.`,
      );
    const { compileForeign } = await import("./foreign-schema.ts");
    const check = await compileForeign(schema, unchecked).catch((error: Error): Check => {
      if (!(error instanceof EvalError)) return giveUp(tool, error);
      warn(tool, `This runtime forbids compiling schemas: results of the tool "${tool}" are not checked.`);
      return () => undefined;
    });
    let isGivenUp = false;
    return (value) => {
      if (isGivenUp) return undefined;
      try {
        return check(value);
      } catch (error) {
        isGivenUp = true;
        return giveUp(tool, error as Error)(value);
      }
    };
  }

  // The tool has done its work: a fault of its schema is no reason to withhold the result.
  function giveUp(tool: string, error: Error): Check {
    warn(
      tool,
      `The output schema of the tool "${tool}" cannot be used, so its results are not checked: ${error.message}. Tell whoever runs the server.`,
    );
    return () => undefined;
  }

  return {
    async problemWith(tool, schema, value) {
      let compiled = checks.get(schema);
      if (compiled === undefined) {
        compiled = compile(tool, schema);
        checks.set(schema, compiled);
      }
      return (await compiled)(value);
    },
  };
}
