import { expect, test } from "vitest";
import { run } from "../../../src/cli/run.ts";
import { createKeyring } from "../../../src/state/index.ts";

function volley(...args: string[]): { code: number; out: string; err: string } {
  const result = { code: 0, out: "", err: "" };
  result.code = run(args, { write: (text) => (result.out += text) }, { write: (text) => (result.err += text) });
  return result;
}

test("X3: volley keygen prints one key and nothing else, another one each time", () => {
  const { code, out, err } = volley("keygen");
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(out).toMatch(/^vk1_[\w-]{43}\n$/);
  expect(createKeyring([out.trim()]).kids).toHaveLength(1);
  expect(volley("keygen").out).not.toBe(out);
});

test("help goes to standard output and ends well", () => {
  const usage = "Usage: volley <command> [--help]\n\nCommands:\n  keygen    print a new key for VOLLEY_KEYS\n";
  for (const word of ["--help", "-h", "help"]) expect(volley(word)).toEqual({ code: 0, out: usage, err: "" });
  expect(volley("keygen", "--help").out).toMatch(/^Usage: volley keygen\n/);
  expect(volley("keygen", "--help").out).toContain("append the new key on every instance");
});

test("a line that cannot be understood says why on standard error, exit code 2", () => {
  expect(volley()).toMatchObject({ code: 2, out: "" });
  expect(volley("keygne")).toMatchObject({ code: 2, out: "" });
  expect(volley("keygne").err).toMatch(/^volley: there is no command "keygne"\.\n\nUsage: /);
  expect(volley("constructor")).toMatchObject({ code: 2, out: "" });
  expect(volley("keygen", "--count", "2")).toMatchObject({ code: 2, out: "" });
  expect(volley("keygen", "--count", "2").err).toMatch(/^volley keygen: Unknown option '--count'/);
});
