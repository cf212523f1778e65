import { describe, expect, test } from "vitest";
import { formats } from "../../../src/elicit/formats.ts";

const cases: Record<keyof typeof formats, { good: string[]; bad: string[] }> = {
  email: {
    good: [
      "joe.bloggs@example.com",
      "te~st@example.com",
      '"joe bloggs"@example.com',
      "a@[127.0.0.1]",
      "a+b@sub.example.co.uk",
      "a@localhost",
    ],
    bad: [
      "",
      "2962",
      "a@",
      "@b.example",
      ".a@b.example",
      "a.@b.example",
      "a..b@c.example",
      "a b@c.example",
      "a@b..example",
      "a@-b.example",
      "a@b.example\n",
      "ä@b.example",
      `a@${"b".repeat(64)}.example`,
    ],
  },
  uri: {
    good: [
      "https://example.com",
      "https://example.com/a%20b?x=1#y",
      "urn:isbn:0451450523",
      "mailto:a@b.example",
      "file:///tmp/x",
      "http://[::1]:80/",
    ],
    bad: [
      "",
      "example.com",
      "/relative",
      "//example.com",
      "http://",
      "https://a b",
      "https://example.com/é",
      "http://example.com/%zz",
      "http://example.com/<x>",
      "https://example.com\n",
    ],
  },
  date: {
    good: ["2026-07-28", "2024-02-29", "2000-02-29", "2026-12-31", "0000-01-01"],
    bad: [
      "",
      "2026-02-29",
      "1900-02-29",
      "2026-04-31",
      "2026-13-01",
      "2026-00-10",
      "2026-01-00",
      "26-01-01",
      "2026-1-1",
      "2026-01-01T00:00:00Z",
      "٢٠٢٦-٠١-٠١",
      "2026-01-01\n",
    ],
  },
  "date-time": {
    good: [
      "2026-07-28T14:30:00Z",
      "2026-07-28t14:30:00.123456z",
      "2026-07-28T14:30:00+02:00",
      "1998-12-31T23:59:60Z",
      "1998-12-31T15:59:60.5-08:00",
    ],
    bad: [
      "",
      "2026-07-28",
      "2026-07-28T14:30:00",
      "2026-07-28T14:30Z",
      "2026-07-28 14:30:00Z",
      "2026-02-30T14:30:00Z",
      "2026-07-28T24:00:00Z",
      "2026-07-28T14:60:00Z",
      "2026-07-28T14:30:61Z",
      "1998-12-31T22:59:60Z",
      "2026-07-28T14:30:00+24:00",
      "2026-07-28T14:30:00+0200",
    ],
  },
};

describe.each(Object.entries(cases))("format %s", (format, { good, bad }) => {
  const holds = formats[format as keyof typeof formats];
  test.each(good)("%j", (text) => expect(holds(text)).toBe(true));
  test.each(bad)("not %j", (text) => expect(holds(text)).toBe(false));

  test("a hostile text is judged in linear time", () => {
    const started = performance.now();
    for (const part of ["a", "a.", "-", "@a", "%", "a@a.", "1"]) {
      holds(part.repeat(50_000));
      holds(`a@${part.repeat(50_000)}`);
      holds(`a:${part.repeat(50_000)}`);
    }
    expect(performance.now() - started).toBeLessThan(2000);
  });
});
