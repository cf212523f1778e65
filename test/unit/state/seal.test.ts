import { expect, test } from "vitest";
import { RpcError } from "../../../src/protocol/index.ts";
import { associatedText, writeKid } from "../../../src/state/associated-data.ts";
import { ANONYMOUS, createKeyring, createSealer, StateRefused } from "../../../src/state/index.ts";
import { AUDIENCE, BINDING, bind, codeOf, errorOf, KEY_1, MAX, NOW, refusal, TIMES } from "./fixtures.ts";

const ONE_MESSAGE = "The request state is not valid for this request.";
const BODY = { flow: "f-1", journal: [["a", "resolution", { content: { resolution: "Duplicate" } }]] };

test("S8: a sealed state opens for the same request", () => {
  const token = bind().seal(BODY, TIMES, MAX);
  expect(bind().open(token, NOW, MAX)).toEqual({ body: BODY, times: TIMES, kid: "OMCLDTGo" });
});

test("S11: a state of the format v1, sealed once and for all, still opens", () => {
  const token =
    "v1.OMCLDTGo.gaDIeBdK0E7HaZo0M-5NdCqAgBxYWAeh2cOoHLX3XqggsvPQIUeeKQI3xGTN-VF_--JovcWFkYkxCgp8uZdEjr3TBs10wHl1wQ-jKTXIaDg-8eMBqQEMNJ0iivc-a7xp3FuPELmd1pLkO2HLaGODOTPli3A8Dumt3zXhPwBPmtnU-zewgxtQbtnFKmlWqo45qqp15vc2JAtcuUYgFhADueiUIgyEwZDbJp_v06OyToeXhc_YakEU_sC6ahja8nP_6rMRNLZTs6gSfcEIIii6ym0rY3mfjRIsuCn8yF3FzLHBN1Ym4p9-615QFDVm6iCFN4_mJKwDeIdWpks2ZD_69IzZTWGhr-MlRn1rfcb_U4We-H1_6s_zbkxBuba_JFcAC0A3xNeJcHU";
  const request = { method: "tools/call", target: "t", arguments: { a: 1 }, principal: ANONYMOUS };
  expect(bind(request, "https://a").open(token, 5, MAX)).toEqual({
    body: { x: "é😀" },
    times: { issuedAt: 1, expiresAt: 100, deadline: 200 },
    kid: "OMCLDTGo",
  });
});

test("S8: the associated data say everything, each field with its length, an absent one as no text has it", () => {
  const text = (change: object, audience?: string): string =>
    writeKid(Buffer.from(associatedText(audience, { ...BINDING, ...change })), "OMCLDTGo").toString();
  expect(text({}, AUDIENCE)).toBe(
    "2:v18:OMCLDTGo27:https://tracker.example/mcp4:user21:https://login.example3:ada4:acme10:tools/call16:update_work_item" +
      '49:{"fields":{"State":"Resolved"},"workItemId":4522}',
  );
  expect(text({ principal: ANONYMOUS, target: "é", arguments: undefined })).toBe(
    "2:v18:OMCLDTGo-9:anonymous---10:tools/call1:é2:{}",
  );
  expect(text({ principal: { type: "user", issuer: "", subject: "-" }, arguments: null })).toBe(
    "2:v18:OMCLDTGo-4:user0:1:--10:tools/call16:update_work_item4:null",
  );
});

test.each([
  [undefined],
  [null],
  [1],
  [true],
  [{}],
  [["v1"]],
  [""],
  ["v1"],
  ["v1."],
  ["v1.OMCLDTGo."],
  ["v1.OMCLDTGo.AAAA"],
])("S7: requestState %j is refused", (token) => {
  expect(refusal(() => bind().open(token, NOW, MAX))).toBe("format");
});

test("S7: less than one byte of text is no state", () => {
  const sealed = (bytes: number): string => `v1.OMCLDTGo.${Buffer.alloc(bytes, 7).toString("base64url")}`;
  expect(refusal(() => bind().open(sealed(40), NOW, MAX))).toBe("format");
  expect(refusal(() => bind().open(sealed(41), NOW, MAX))).toBe("authentication");
});

// Three sizes, because the last character carries 6, 4 or 2 bits of the last bytes.
test.each([[0], [256], [512]])(
  "case 39: in a state of %d bytes and more every changed character is refused",
  (size) => {
    const bound = bind();
    const token = bound.seal("x".repeat(size), TIMES, MAX);
    expect(refusal(() => bound.open(token, NOW, MAX))).toBe("opened");
    const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const opened: string[] = [];
    const replace = (at: number, by: string): void => {
      const altered = token.slice(0, at) + by + token.slice(at + 1);
      if (altered !== token && refusal(() => bound.open(altered, NOW, MAX)) === "opened") opened.push(altered);
    };
    for (let at = 0; at < token.length; at++) {
      const next = alphabet[(alphabet.indexOf(token[at]!) + 1) % 64]!;
      for (const by of [next, "", "=", "+", "/", ".", " ", "\n", "é", "😀", "\0", token[at]! + token[at]!])
        replace(at, by);
    }
    for (const by of alphabet) replace(token.length - 1, by);
    expect(opened).toEqual([]);
  },
);

test("S7: every cut and every extension is refused", () => {
  const bound = bind();
  const token = bound.seal(BODY, TIMES, MAX);
  for (let cut = 0; cut < token.length; cut++) {
    expect(refusal(() => bound.open(token.slice(0, cut), NOW, MAX))).not.toBe("opened");
    expect(refusal(() => bound.open(token.slice(token.length - cut), NOW, MAX))).not.toBe("opened");
  }
  for (const tail of ["A", "AA", "AAAA", "=", "==", "===", ".", ".A", " ", "\n", "\0", "%3D", token, `.${token}`]) {
    expect(refusal(() => bound.open(token + tail, NOW, MAX))).not.toBe("opened");
    expect(refusal(() => bound.open(tail + token, NOW, MAX))).toBe("format");
  }
});

test("S7: a state has one spelling: no other alphabet, no padding, no white space inside", () => {
  const bound = bind();
  let token = "";
  while (!/-.*_|_.*-/.test(token)) token = bound.seal(BODY, TIMES, MAX);
  const head = token.slice(0, 12);
  const text = token.slice(12);
  const same = (spelling: string): boolean => Buffer.from(spelling, "base64url").equals(Buffer.from(text, "base64url"));
  const padded = text.padEnd(Math.ceil(text.length / 4) * 4, "=");
  const spellings = [
    text.replaceAll("-", "+").replaceAll("_", "/"),
    text.replace("-", "+"),
    text.replace("_", "/"),
    `${text}=`,
    `${text}==`,
    padded,
    `${text.slice(0, 76)}\r\n${text.slice(76)}`,
    ` ${text}`,
  ].filter((spelling) => spelling !== text);
  for (const spelling of spellings) {
    expect(same(spelling)).toBe(true);
    expect(refusal(() => bound.open(head + spelling, NOW, MAX))).toBe("format");
  }
});

test.each([
  ["another method", { method: "prompts/get" }],
  ["another tool", { target: "delete_work_item" }],
  ["a tool in other letters", { target: "Update_work_item" }],
  ["other arguments", { arguments: { workItemId: 4523, fields: { State: "Resolved" } } }],
  ["an argument more", { arguments: { workItemId: 4522, fields: { State: "Resolved" }, force: true } }],
  ["a string for a number", { arguments: { workItemId: "4522", fields: { State: "Resolved" } } }],
  ["no arguments", { arguments: undefined }],
  ["another issuer", { principal: { ...BINDING.principal, issuer: "https://login.example/" } }],
  ["another subject", { principal: { ...BINDING.principal, subject: "eve" } }],
  ["another tenant", { principal: { ...BINDING.principal, tenant: "evil" } }],
  ["an empty tenant", { principal: { ...BINDING.principal, tenant: "" } }],
  ["no tenant", { principal: { type: "user", issuer: "https://login.example", subject: "ada" } }],
  ["an anonymous caller", { principal: ANONYMOUS }],
] as const)("S8: case 39: %s is refused", (_, change) => {
  const token = bind().seal(BODY, TIMES, MAX);
  expect(refusal(() => bind(change).open(token, NOW, MAX))).toBe("authentication");
  expect(refusal(() => bind().open(bind(change).seal(BODY, TIMES, MAX), NOW, MAX))).toBe("authentication");
});

test("S8: no tenant and an empty tenant are two, and so are nobody and a user without names", () => {
  const user = { type: "user", issuer: "", subject: "" } as const;
  const principals = [ANONYMOUS, user, { ...user, tenant: "" }];
  for (const sealedFor of principals) {
    const token = bind({ principal: sealedFor }).seal(BODY, TIMES, MAX);
    const opens = principals.filter(
      (principal) => refusal(() => bind({ principal }).open(token, NOW, MAX)) === "opened",
    );
    expect(opens).toEqual([sealedFor]);
  }
});

test("S8: another audience, an empty one or none is refused", () => {
  const keyring = createKeyring([KEY_1]);
  const audiences = [AUDIENCE, "https://other.example/mcp", "", undefined];
  for (const sealedFor of audiences) {
    const token = createSealer({ keyring, audience: sealedFor }).bind(BINDING).seal(BODY, TIMES, MAX);
    const opens = audiences.filter(
      (audience) => refusal(() => createSealer({ keyring, audience }).bind(BINDING).open(token, NOW, MAX)) === "opened",
    );
    expect(opens).toEqual([sealedFor]);
  }
});

test("S8: the order of arguments and the spelling of numbers and strings make no difference", () => {
  const args = (text: string): { arguments: unknown } => ({ arguments: JSON.parse(text) });
  const token = bind(args('{"id":1,"list":[{"b":100,"a":"é"}],"zero":0}')).seal(BODY, TIMES, MAX);
  const same = [
    '{"zero":-0.0,"list":[{"a":"\\u00e9","b":1e2}],"id":1.0}',
    '{ "id" : 1e0, "list" : [ {"b":100.00,"a":"é"} ], "zero":0e9 }',
  ];
  for (const text of same) expect(refusal(() => bind(args(text)).open(token, NOW, MAX))).toBe("opened");
});

test("case 23: arguments named __proto__ and constructor are plain data", () => {
  const args = (text: string): { arguments: unknown } => ({ arguments: JSON.parse(text) });
  const token = bind(args('{"__proto__":{"a":1},"constructor":1}')).seal(BODY, TIMES, MAX);
  expect(refusal(() => bind(args('{"constructor":1,"__proto__":{"a":1}}')).open(token, NOW, MAX))).toBe("opened");
  expect(refusal(() => bind(args('{"constructor":1,"__proto__":{"a":2}}')).open(token, NOW, MAX))).toBe(
    "authentication",
  );
  expect(refusal(() => bind(args('{"constructor":1}')).open(token, NOW, MAX))).toBe("authentication");
  const body: unknown = JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":1}}');
  expect(bind().open(bind().seal(body, TIMES, MAX), NOW, MAX).body).toEqual(body);
  expect(Object.hasOwn({}, "polluted")).toBe(false);
});

test("S8: a binding is taken as it was, whatever happens to the arguments later", () => {
  const args = { id: 1 };
  const bound = bind({ arguments: args });
  args.id = 2;
  expect(refusal(() => bind({ arguments: { id: 1 } }).open(bound.seal(BODY, TIMES, MAX), NOW, MAX))).toBe("opened");
});

test("S8: names that no UTF-8 tells apart are refused before anything is sealed", () => {
  for (const change of [
    { target: "a\ud800" },
    { principal: { type: "user", issuer: "i", subject: "\udc00" } as const },
  ]) {
    const error = errorOf(() => bind(change));
    expect(RpcError.is(error) && error.code).toBe(-32602);
  }
  // A high half at the end of one field and a low half at the start of the next are no pair.
  expect(() => bind({ method: "a\ud83d", target: "\ude00" })).toThrow(RpcError);
});

test("S8: a state ends at its expiry and at the deadline, without grace", () => {
  const bound = bind();
  const at = (now: number, times = TIMES): string => refusal(() => bound.open(bound.seal(BODY, times, MAX), now, MAX));
  expect(at(TIMES.expiresAt - 1)).toBe("opened");
  expect(at(TIMES.expiresAt)).toBe("expired");
  expect(at(TIMES.expiresAt + 86_400_000)).toBe("deadline");
  const untilDeadline = { ...TIMES, expiresAt: TIMES.deadline };
  expect(at(TIMES.deadline - 1, untilDeadline)).toBe("opened");
  expect(at(TIMES.deadline, untilDeadline)).toBe("deadline");
});

test("S9: every state expires by the deadline, whatever its TTL", () => {
  const token = bind().seal(BODY, { ...TIMES, expiresAt: TIMES.deadline + 1 }, MAX);
  expect(bind().open(token, NOW, MAX).times).toEqual({ ...TIMES, expiresAt: TIMES.deadline });
});

test("S8: a state issued more than two minutes from now is refused", () => {
  const bound = bind();
  const token = bound.seal(BODY, TIMES, MAX);
  expect(refusal(() => bound.open(token, NOW - 120_000, MAX))).toBe("opened");
  expect(refusal(() => bound.open(token, NOW - 120_001, MAX))).toBe("future");
});

test("S8: a clock that is no number opens and seals nothing", () => {
  const bound = bind();
  const token = bound.seal(BODY, TIMES, MAX);
  expect(refusal(() => bound.open(token, Number.NaN, MAX))).toBe("deadline");
  for (const name of ["issuedAt", "expiresAt", "deadline"] as const) {
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(codeOf(errorOf(() => bound.seal(BODY, { ...TIMES, [name]: value }, MAX)))).toBe("invalid_options");
    }
  }
});

test("S7: the limit counts the characters of the state, in and out", () => {
  const bound = bind();
  const token = bound.seal(BODY, TIMES, MAX);
  expect(token).toHaveLength(407);
  expect(bound.seal(BODY, TIMES, 407)).toHaveLength(407);
  expect(refusal(() => bound.open(token, NOW, 407))).toBe("opened");
  expect(refusal(() => bound.open(token, NOW, 406))).toBe("too_large");
  const error = errorOf(() => bound.seal(BODY, TIMES, 406));
  expect(codeOf(error)).toBe("state_too_large");
  expect(error.message).toBe(
    "The state would be 407 bytes and its limit is 406: let steps return references instead of whole records, or raise maxStateBytes.",
  );
});

test("X3: a state shows nothing: not its content, not the exact length, not that two are the same", () => {
  const bound = bind();
  const lengths = new Set<number>();
  for (const answer of ["", "no", "yes", "é".repeat(40), "x".repeat(100)]) {
    const token = bound.seal({ answer }, TIMES, MAX);
    lengths.add(token.length);
    expect(token).toMatch(/^v1\.OMCLDTGo\.[A-Za-z0-9_-]{395}$/);
    expect(token).not.toBe(bound.seal({ answer }, TIMES, MAX));
    expect(Buffer.from(token.slice(12), "base64url").toString("latin1")).not.toContain("answer");
  }
  expect(lengths).toEqual(new Set([407]));
});

test("S7: what is authentic but not of this shape is refused", () => {
  const key = createKeyring([KEY_1]).sealing;
  const aad = writeKid(Buffer.from(associatedText(AUDIENCE, BINDING)), key.kid);
  const texts = [
    " ",
    "{",
    "null",
    "[]",
    "1",
    "{}",
    '{"i":1,"e":2,"d":3}',
    '{"i":"1","e":2,"d":3,"b":0}',
    '{"i":1,"e":null,"d":3,"b":0}',
    '{"i":1,"e":2,"b":0}',
  ];
  for (const text of texts) {
    const token = `v1.${key.kid}.${key.box("state").seal(text, aad).toString("base64url")}`;
    expect(refusal(() => bind().open(token, 0, MAX))).toBe("body");
  }
  expect(refusal(() => bind().open(bind().seal(undefined, TIMES, MAX), NOW, MAX))).toBe("body");
});

test("S7: case 39: every refusal is the same message, and the reason is nowhere in it", () => {
  for (const reason of [
    "format",
    "too_large",
    "kid",
    "authentication",
    "body",
    "future",
    "deadline",
    "expired",
  ] as const) {
    const error = new StateRefused(reason);
    expect(error).toMatchObject({ name: "StateRefused", code: "state_refused", reason, message: ONE_MESSAGE });
    expect(String(error)).toBe(`StateRefused: ${ONE_MESSAGE}`);
    expect(error.cause).toBeUndefined();
  }
  const token = bind().seal(BODY, TIMES, MAX);
  const messages = [
    () => bind().open("", NOW, MAX),
    () => bind().open(`${token.slice(0, -2)}AA`, NOW, MAX),
    () => bind({ target: "other" }).open(token, NOW, MAX),
    () => bind().open(token.replace("OMCLDTGo", "hwgPzUSm"), NOW, MAX),
    () => bind().open(token, TIMES.deadline, MAX),
  ].map((call) => errorOf(call).message);
  expect(new Set(messages)).toEqual(new Set([ONE_MESSAGE]));
});
