import { describe, expect, test } from "vitest";
import { checkOptions, type OptionNames } from "../../../src/protocol/index.ts";

interface Options {
  readonly name: string;
  readonly authenticate?: () => boolean;
  readonly singleUse?: boolean;
  readonly maxStateBytes?: number;
}

const KNOWN: OptionNames<Options> = { name: true, authenticate: true, singleUse: true, maxStateBytes: true };

function said(options: unknown): string {
  try {
    checkOptions("createThing", options, KNOWN);
    return "";
  } catch (error) {
    return (error as Error).message;
  }
}

describe("options that do not exist", () => {
  test("known options pass, and no option at all", () => {
    expect(said({ name: "a", singleUse: undefined })).toBe("");
    expect(said({})).toBe("");
  });

  test.each([
    ["singelUse", "singleUse"],
    ["SingleUse", "singleUse"],
    ["maxStateByte", "maxStateBytes"],
    ["maxStateBytesMs", "maxStateBytes"],
    ["auth", "authenticate"],
    ["nmae", "name"],
  ])("the nearest name is offered: %s", (given, meant) => {
    expect(said({ [given]: 1 })).toBe(`createThing has no option "${given}". Did you mean "${meant}"?`);
  });

  test("where none is near, all are named", () => {
    expect(said({ secret: "x" })).toBe(
      'createThing has no option "secret". It has: name, authenticate, singleUse, maxStateBytes.',
    );
  });

  test("names of Object.prototype are no options", () => {
    expect(said({ toString: 1 })).toMatch(/^createThing has no option "toString"\. It has: /);
    expect(said(JSON.parse('{"__proto__":1}'))).toMatch(/^createThing has no option "__proto__"\. It has: /);
    expect(said({ "": 1 })).toMatch(/^createThing has no option ""\. It has: /);
  });

  test.each([
    [null, "null"],
    [undefined, "undefined"],
    ["x", "a string"],
    [5, "a number"],
    [["name"], "a list"],
    [() => {}, "a function"],
  ])("what is no object of options: %s", (given, what) => {
    expect(said(given)).toBe(`createThing takes its options as an object, not ${what}.`);
  });
});
