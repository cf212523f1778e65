// What judging a value costs, counted while ajv's code runs: a schema of a few lines can double its work with each of them.
import type { Ajv } from "ajv";
import { hasUniqueItems } from "../protocol/index.ts";

/** Counts, and stops what costs too much. */
export interface Meter {
  /** Before each value. */
  reset(): void;
  /** Throws when the value has cost more than any may. */
  spend(cost: number): void;
  /** Makes the code that `ajv` compiles from now on tell what it costs. */
  install(ajv: Ajv): void;
}

/** Some nanoseconds a unit: about a second at the most. */
const MAX_COST = 50_000_000;

/** Loads what writes code for ajv. */
export async function loadMeter(): Promise<Meter> {
  const { _ } = await import("ajv/dist/compile/codegen/index.js");
  let left = MAX_COST;

  function spend(cost: number): void {
    left -= cost;
    if (left < 0) throw new RangeError("it takes too long to check a value by it");
  }

  function visit(weight: number, data: unknown): void {
    spend(weight + sizeOf(data) / 8);
  }

  function install(ajv: Ajv): void {
    // ajv compares each item with each other one.
    ajv.removeKeyword("uniqueItems");
    ajv.addKeyword({
      keyword: "uniqueItems",
      type: "array",
      schemaType: "boolean",
      error: { message: "must NOT have duplicate items" },
      validate(isAsked: boolean, items: unknown[]) {
        if (!isAsked || items.length < 2) return true;
        spend(JSON.stringify(items).length);
        return hasUniqueItems(items);
      },
    });
    for (const rule of Object.values(ajv.RULES.all)) {
      if (typeof rule !== "object" || !("code" in rule.definition)) continue;
      const { code } = rule.definition;
      rule.definition = {
        ...rule.definition,
        code(cxt, type) {
          const counter = cxt.gen.scopeValue("func", { ref: visit });
          cxt.gen.code(_`${counter}(${weightOf(cxt.schema)}, ${cxt.data})`);
          code(cxt, type);
        },
      };
    }
  }

  return {
    reset() {
      left = MAX_COST;
    },
    spend,
    install,
  };
}

/** How much there is to look at in a keyword itself; what lies in schemas inside it is counted there. */
function weightOf(keyword: unknown): number {
  return typeof keyword === "object" && keyword !== null ? 1 + Object.keys(keyword).length : 1;
}

function sizeOf(data: unknown): number {
  if (typeof data === "string") return data.length;
  return typeof data === "object" && data !== null ? Object.keys(data).length : 0;
}
