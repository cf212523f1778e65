import { describe, expect, test } from "vitest";
import { findClickableUrls, formWarnings } from "../../../src/elicit/index.ts";

describe("S22: no addresses to click in forms", () => {
  test.each([
    ["See https://a.example/x?y=1#z.", ["https://a.example/x?y=1#z"]],
    ["(http://a.example), [b](HTTPS://b.example/c)", ["http://a.example", "HTTPS://b.example/c"]],
    ["mail me at a@b.example, ftp://c.example", []],
    ["https://", []],
    ["", []],
  ])("%j holds %j", (text, urls) => {
    expect(findClickableUrls(text)).toEqual(urls);
  });

  test("the author hears of each place; a default is a value", () => {
    const warnings = formWarnings("Go to https://m.example", {
      type: "object",
      properties: {
        fine: { type: "string", format: "uri", default: "https://default.example" },
        site: { type: "string", title: "http://t.example", description: "Like https://d.example" },
        pick: { type: "string", oneOf: [{ const: "a", title: "https://o.example" }] },
        more: { type: "array", items: { type: "string", enum: ["https://e.example"] } },
      },
    });
    const end = ", and a form should hold no address to click: ask with ctx.elicitUrl, or name the place in words.";
    expect(warnings).toEqual([
      `The message of the form shows https://m.example${end}`,
      `Field "site" shows http://t.example${end}`,
      `Field "site" shows https://d.example${end}`,
      `Field "pick" shows https://o.example${end}`,
      `Field "more" shows https://e.example${end}`,
    ]);
    expect(formWarnings("Your name?", { type: "object", properties: { name: { type: "string" } } })).toEqual([]);
  });
});
