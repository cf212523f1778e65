// The documents' example messages, as our client sends and reads them.
import { describe, expect, test } from "vitest";
import { type ConnectOptions, connect } from "../../src/client.ts";
import {
  CAPITAL_OF_FRANCE_ANSWER,
  CAPITAL_OF_FRANCE_REQUEST,
  GET_WEATHER,
  GITHUB_LOGIN_ANSWER,
  TWO_QUESTIONS,
  UPDATE_WORK_ITEM,
} from "../fixtures/messages.ts";
import { type MemoryTransport, memory, serve, text } from "../unit/client/fixtures.ts";

/** Answers with the results of these messages, one after the other. */
function script(...messages: readonly { readonly result: unknown }[]): MemoryTransport {
  const results = messages.map(({ result }) => result);
  return memory(() => results.shift());
}

/** What was sent, without the `_meta` that the examples leave out. */
function sent(transport: MemoryTransport): unknown[] {
  return transport.requests.map(({ params: { _meta, ...params } = {}, ...message }) => ({ ...message, params }));
}

test("C1, C2, C3, C6: get_weather, four messages", async () => {
  const results: unknown[] = [GET_WEATHER.question.result, GET_WEATHER.result.result];
  await using server = await serve(({ method }) =>
    method === "tools/list" ? { resultType: "complete", tools: [] } : results.shift(),
  );
  const client = await connect(server.url, { form: () => ({ name: "octocat" }) });
  expect(await client.callTool("get_weather", { location: "New York" })).toEqual(GET_WEATHER.result.result);
  const messages = server
    .of("tools/call")
    .map(({ headers, rawHeaders, params: { _meta, ...params }, ...message }) => ({ ...message, params }));
  expect(messages).toEqual([GET_WEATHER.call, GET_WEATHER.retry]);
  await client.close();
});

test("C2, C6, C7: update_work_item, six messages: no state and no mode in the first round", async () => {
  const { call, resolutionQuestion, resolutionRetry, duplicateQuestion, duplicateRetry, result } = UPDATE_WORK_ITEM;
  const transport = script(resolutionQuestion, duplicateQuestion, result);
  const client = await connect(transport, {
    form: ({ key }) => (key === "resolution" ? { resolution: "Duplicate" } : { duplicateOfId: 4301 }),
  });
  expect(await client.callTool("update_work_item", call.params.arguments)).toEqual(result.result);
  expect(sent(transport)).toEqual([call, resolutionRetry, duplicateRetry]);
});

describe("C1: github_login with capital_of_france", () => {
  const answers: ConnectOptions = {
    form: () => ({ name: "octocat" }),
    sampling: (params) => {
      expect(params).toEqual(CAPITAL_OF_FRANCE_REQUEST.params);
      return CAPITAL_OF_FRANCE_ANSWER as never;
    },
  };

  test("by handlers", async () => {
    const transport = script(TWO_QUESTIONS, { result: text("done") });
    await (await connect(transport, answers)).callTool("work");
    expect(sent(transport)[1]).toMatchObject({
      id: 2,
      params: {
        inputResponses: { github_login: GITHUB_LOGIN_ANSWER, capital_of_france: CAPITAL_OF_FRANCE_ANSWER },
        requestState: "AEAD-protected blob",
      },
    });
  });

  test("by hand", async () => {
    const transport = script(TWO_QUESTIONS, { result: text("done") });
    const client = await connect(transport);
    const step = await client.start("tools/call", { name: "work" }, { answers: ["form", "sampling"] });
    if (step.done) throw new Error("nothing was asked");
    expect({ ...step.requests }).toEqual(TWO_QUESTIONS.result.inputRequests);
    step.answer("github_login", { name: "octocat" });
    step.answer("capital_of_france", CAPITAL_OF_FRANCE_ANSWER as never);
    expect(await step.continue()).toEqual({ done: true, result: text("done") });
    expect(sent(transport)[1]).toMatchObject({
      params: { inputResponses: { github_login: GITHUB_LOGIN_ANSWER, capital_of_france: CAPITAL_OF_FRANCE_ANSWER } },
    });
  });
});
