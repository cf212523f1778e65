import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { createKeyring } from "../../../src/state/index.ts";
import { volley } from "./volley.ts";

test("X3: volley keygen prints one key and nothing else, another one each time", async () => {
  const { code, out, err } = await volley("keygen");
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(out).toMatch(/^vk1_[\w-]{43}\n$/);
  expect(createKeyring([out.trim()]).kids).toHaveLength(1);
  expect((await volley("keygen")).out).not.toBe(out);
});

test("help goes to standard output and ends well", async () => {
  const usage =
    "Usage: volley <command> [--help]\n       volley --version\n\nCommands:\n  keygen    print a new key for VOLLEY_KEYS\n" +
    "  keys      list the ids of the keys in VOLLEY_KEYS, and count states by them\n";
  for (const word of ["--help", "-h", "help"]) expect(await volley(word)).toEqual({ code: 0, out: usage, err: "" });
  expect((await volley("keygen", "--help")).out).toMatch(/^Usage: volley keygen\n/);
  expect((await volley("keygen", "--help")).out).toContain("append the new key on every instance");
  expect((await volley("keygen", "--help")).out).toContain("the longest a flow may take (flowMs)");
});

test("the version is that of the package", async () => {
  const { version } = JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8"));
  for (const word of ["--version", "-v"]) {
    expect(await volley(word)).toEqual({ code: 0, out: `${version}\n`, err: "" });
  }
});

test("a line that cannot be understood says why on standard error, exit code 2", async () => {
  expect(await volley()).toMatchObject({ code: 2, out: "" });
  expect(await volley("keygne")).toMatchObject({ code: 2, out: "" });
  expect((await volley("keygne")).err).toMatch(/^volley: there is no command "keygne"\.\n\nUsage: /);
  expect(await volley("constructor")).toMatchObject({ code: 2, out: "" });
  expect(await volley("keygen", "--count", "2")).toMatchObject({ code: 2, out: "" });
  expect((await volley("keygen", "--count", "2")).err).toMatch(/^volley keygen: Unknown option '--count'/);
});
