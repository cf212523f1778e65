import { describe, expect, test } from "vitest";
import {
  type ClientCapabilities,
  type InputRequests,
  missingCapabilities,
  supportsForm,
  supportsRoots,
  supportsSampling,
  supportsSamplingContext,
  supportsSamplingTools,
  supportsUrl,
} from "../../../src/protocol/index.ts";

const form: InputRequests = {
  form: {
    method: "elicitation/create",
    params: { message: "Name?", requestedSchema: { type: "object", properties: { name: { type: "string" } } } },
  },
};
const url: InputRequests = {
  url: { method: "elicitation/create", params: { mode: "url", message: "Sign in", url: "https://example.com/" } },
};
const messages = [{ role: "user" as const, content: { type: "text" as const, text: "Hello" } }];
const sampling: InputRequests = { model: { method: "sampling/createMessage", params: { messages, maxTokens: 1 } } };
const tools: InputRequests = {
  model: { method: "sampling/createMessage", params: { messages, maxTokens: 1, tools: [] } },
};
const choice: InputRequests = {
  model: { method: "sampling/createMessage", params: { messages, maxTokens: 1, toolChoice: { mode: "none" } } },
};
const context = (includeContext: "none" | "thisServer" | "allServers"): InputRequests => ({
  model: { method: "sampling/createMessage", params: { messages, maxTokens: 1, includeContext } },
});
const roots: InputRequests = { roots: { method: "roots/list" } };

describe("S6: what is missing for the questions", () => {
  test.each<[string, InputRequests, ClientCapabilities, ClientCapabilities | undefined]>([
    ["case 27: {} is form only, a form", form, { elicitation: {} }, undefined],
    ["case 27: {} is form only, a url", url, { elicitation: {} }, { elicitation: { url: {} } }],
    ["case 27: {url: {}}, a form", form, { elicitation: { url: {} } }, { elicitation: { form: {} } }],
    ["case 27: {url: {}}, a url", url, { elicitation: { url: {} } }, undefined],
    ["both modes", { ...form, ...url }, { elicitation: { form: {}, url: {} } }, undefined],
    ["form without url", { ...form, ...url }, { elicitation: { form: {} } }, { elicitation: { url: {} } }],
    ["neither mode", { ...form, ...url }, {}, { elicitation: { form: {}, url: {} } }],
    ["sampling", sampling, { sampling: {} }, undefined],
    ["no sampling", sampling, { elicitation: {} }, { sampling: {} }],
    ["tools without sampling.tools", tools, { sampling: {} }, { sampling: { tools: {} } }],
    ["tools without sampling", tools, {}, { sampling: { tools: {} } }],
    ["tools", tools, { sampling: { tools: {} } }, undefined],
    ["a tool choice", choice, { sampling: {} }, { sampling: { tools: {} } }],
    ["context none", context("none"), { sampling: {} }, undefined],
    ["context thisServer", context("thisServer"), { sampling: {} }, { sampling: { context: {} } }],
    ["context allServers", context("allServers"), { sampling: {} }, { sampling: { context: {} } }],
    ["context", context("allServers"), { sampling: { context: {} } }, undefined],
    ["roots", roots, { roots: {} }, undefined],
    ["no roots", roots, {}, { roots: {} }],
    [
      "everything",
      { ...form, ...tools, ...roots },
      {},
      { elicitation: { form: {} }, sampling: { tools: {} }, roots: {} },
    ],
    ["nothing asked", {}, {}, undefined],
  ])("%s", (_, requests, capabilities, missing) => {
    expect(missingCapabilities(requests, capabilities)).toEqual(missing);
  });

  test("case 23: a question under __proto__ counts", () => {
    const requests = JSON.parse('{"__proto__":{"method":"roots/list"}}');
    expect(missingCapabilities(requests, {})).toEqual({ roots: {} });
  });

  test("several questions add up, whatever their order", () => {
    const two: InputRequests = { a: Object.values(context("thisServer"))[0]!, b: Object.values(tools)[0]! };
    expect(missingCapabilities(two, {})).toEqual({ sampling: { context: {}, tools: {} } });
    expect(missingCapabilities({ b: two.b!, a: two.a! }, {})).toEqual({ sampling: { context: {}, tools: {} } });
  });
});

test.each<[ClientCapabilities, string]>([
  [{}, ""],
  [{ elicitation: {} }, "form"],
  [{ elicitation: { form: {} } }, "form"],
  [{ elicitation: { url: {} } }, "url"],
  [{ elicitation: { form: {}, url: {} } }, "form url"],
  [{ sampling: {} }, "sampling"],
  [{ sampling: { tools: {}, context: {} } }, "sampling tools context"],
  [{ roots: {} }, "roots"],
])("%j supports: %s", (capabilities, supported) => {
  const names = [
    supportsForm(capabilities) && "form",
    supportsUrl(capabilities) && "url",
    supportsSampling(capabilities) && "sampling",
    supportsSamplingTools(capabilities) && "tools",
    supportsSamplingContext(capabilities) && "context",
    supportsRoots(capabilities) && "roots",
  ];
  expect(names.filter((name) => name !== false).join(" ")).toBe(supported);
});
