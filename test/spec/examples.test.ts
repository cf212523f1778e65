// The example messages of the documents, through a server and back, word for word. Requests get the `_meta` that the
// examples leave out, results carry the server's name in theirs, and the state is ours.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { createServer, type InputRequired } from "../../src/index.ts";
import {
  CAPITAL_OF_FRANCE_ANSWER,
  CAPITAL_OF_FRANCE_REQUEST,
  GET_WEATHER,
  GITHUB_LOGIN_ANSWER,
  GITHUB_LOGIN_REQUEST,
  META_EXAMPLE,
  NOT_REQUESTED_INFO,
  TWO_QUESTIONS,
  UPDATE_WORK_ITEM,
} from "../fixtures/messages.ts";
import { serve, type Wire } from "./wire.ts";

const Login = z.object({ name: z.string() });
const login = { message: "Please provide your GitHub username", schema: Login };
const WEATHER = GET_WEATHER.result.result.content[0].text;

let wire: Wire;
beforeAll(async () => {
  const server = createServer({ name: "examples", version: "1.0.0", singleInstance: true });
  const input = z.object({ location: z.string() });

  server.tool("two_questions", {}, async (_args, ctx) => {
    const [{ name }, said] = await Promise.all([
      ctx.elicit("github_login", login),
      ctx.createMessage("capital_of_france", structuredClone(CAPITAL_OF_FRANCE_REQUEST.params) as never),
    ]);
    return JSON.stringify({ name, said });
  });
  server.tool("two_questions_by_hand", {}, (_args, ctx) =>
    ctx.requestState === undefined
      ? (TWO_QUESTIONS.result as unknown as InputRequired)
      : JSON.stringify({ state: ctx.requestState, answers: ctx.inputResponses }),
  );
  server.tool("get_weather", { input }, async (_args, ctx) => {
    await ctx.elicit("github_login", login);
    return { content: [{ type: "text", text: WEATHER }], isError: false };
  });
  server.tool("get_weather_by_hand", { input }, (_args, ctx) => {
    if (ctx.inputResponses?.github_login === undefined) {
      return NOT_REQUESTED_INFO.question.result as unknown as InputRequired;
    }
    return { content: [{ type: "text", text: WEATHER }], isError: false };
  });
  server.tool(
    "update_work_item",
    { input: z.object({ workItemId: z.number(), fields: z.record(z.string(), z.string()) }) },
    ({ workItemId, fields }, ctx) => {
      const { resolution } = ctx.requestState
        ? JSON.parse(ctx.requestState)
        : contentOf(ctx.inputResponses?.resolution);
      const { duplicateOfId } = contentOf(ctx.inputResponses?.duplicate_of);
      if (resolution === undefined) {
        return UPDATE_WORK_ITEM.resolutionQuestion.result as unknown as InputRequired;
      }
      if (resolution === "Duplicate" && duplicateOfId === undefined) {
        const { inputRequests } = UPDATE_WORK_ITEM.duplicateQuestion.result;
        return {
          resultType: "input_required",
          inputRequests: inputRequests as unknown as NonNullable<InputRequired["inputRequests"]>,
          requestState: JSON.stringify({ resolution }),
        };
      }
      const state = fields["System.State"];
      const text = `Bug #${workItemId} resolved as ${resolution} of Bug #${duplicateOfId}. State set to ${state} and duplicate link created.`;
      return { content: [{ type: "text", text }], isError: false };
    },
  );
  wire = await serve(server);
});
afterAll(() => wire[Symbol.asyncDispose]());

// biome-ignore lint/suspicious/noExplicitAny: what a peer sent
function contentOf(answer: any): any {
  return answer?.content ?? {};
}

interface Request {
  readonly jsonrpc: string;
  readonly id: number;
  readonly method: string;
  readonly params: { readonly name: string };
}

/** Sends an example; a state in it is replaced by ours, and a name by that of another handler for the same tool. */
async function send(example: Request, replace: { name?: string; requestState?: string } = {}) {
  const answer = await wire.send({ ...example, params: { ...example.params, ...replace, _meta: META_EXAMPLE } });
  expect(answer.status).toBe(200);
  const { _meta, ...result } = answer.json.result;
  expect(_meta).toEqual({ "io.modelcontextprotocol/serverInfo": { name: "examples", version: "1.0.0" } });
  const message = { ...answer.json, result };
  const state: string | undefined = result.requestState;
  return { message, state };
}

/** The example with its state replaced by ours. */
function withState(example: { readonly result: object }, state: string | undefined): object {
  expect(state).toMatch(/^v1\.[\w-]{8}\.[\w-]+$/);
  return { ...example, result: { ...example.result, requestState: state } };
}

describe("github_login and capital_of_france", () => {
  const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "two_questions" } };
  const inputResponses = { github_login: GITHUB_LOGIN_ANSWER, capital_of_france: CAPITAL_OF_FRANCE_ANSWER };
  const retry = { ...call, id: 2, params: { ...call.params, inputResponses } };

  test("X2, S5: asked together they are the example's one round, and both answers come back", async () => {
    const first = await send(call);
    expect(first.message).toEqual(withState(TWO_QUESTIONS, first.state));
    const { message } = await send(retry, first.state === undefined ? {} : { requestState: first.state });
    expect(message.id).toBe(2);
    expect(JSON.parse(message.result.content[0].text)).toEqual({ name: "octocat", said: CAPITAL_OF_FRANCE_ANSWER });
  });

  test("S5: a handler that returns the example itself has its state sealed, and gets it back opened", async () => {
    const name = "two_questions_by_hand";
    const first = await send(call, { name });
    expect(first.message).toEqual(withState(TWO_QUESTIONS, first.state));
    expect(Buffer.from(String(first.state), "base64url").toString("latin1")).not.toContain("AEAD");
    const { message } = await send(retry, { name, requestState: String(first.state) });
    expect(JSON.parse(message.result.content[0].text)).toEqual({
      state: "AEAD-protected blob",
      answers: inputResponses,
    });
  });
});

describe("get_weather", () => {
  test("X1: the four messages", async () => {
    const first = await send(GET_WEATHER.call);
    expect(first.message).toEqual(withState(GET_WEATHER.question, first.state));
    const second = await send(GET_WEATHER.retry, { requestState: String(first.state) });
    expect(second.message).toEqual(GET_WEATHER.result);
  });

  test("S15, S14: not_requested_info is ignored, and what is missing is asked for", async () => {
    const byHand = await send(NOT_REQUESTED_INFO.retry, { name: "get_weather_by_hand" });
    expect(byHand.message).toEqual(NOT_REQUESTED_INFO.question);
    const { message, state } = await send(NOT_REQUESTED_INFO.retry);
    expect(message).toEqual(withState(NOT_REQUESTED_INFO.question, state));
    expect(message.result.inputRequests).toEqual({ github_login: GITHUB_LOGIN_REQUEST });
  });

  test("S14: with a state too, what was not requested is ignored and the question stays as it is but for the reason", async () => {
    const { state } = await send(GET_WEATHER.call);
    const { message } = await send(NOT_REQUESTED_INFO.retry, { requestState: String(state) });
    expect(Object.keys(message.result.inputRequests)).toEqual(["github_login"]);
    expect(message.result.inputRequests.github_login.params).toEqual({
      ...GITHUB_LOGIN_REQUEST.params,
      message: "Please provide your GitHub username\n\nNo usable answer came.",
    });
  });
});

describe("update_work_item", () => {
  test("S3, S13: the six messages; the first round has no state, and the questions no mode", async () => {
    const first = await send(UPDATE_WORK_ITEM.call);
    expect(first.message).toEqual(UPDATE_WORK_ITEM.resolutionQuestion);
    expect(first.message.result).not.toHaveProperty("requestState");
    const second = await send(UPDATE_WORK_ITEM.resolutionRetry);
    expect(second.message).toEqual(withState(UPDATE_WORK_ITEM.duplicateQuestion, second.state));
    const third = await send(UPDATE_WORK_ITEM.duplicateRetry, { requestState: String(second.state) });
    expect(third.message).toEqual(UPDATE_WORK_ITEM.result);
  });

  test("S7: the example's own state, a readable one, is refused", async () => {
    const answer = await wire.send({
      ...UPDATE_WORK_ITEM.duplicateRetry,
      params: { ...UPDATE_WORK_ITEM.duplicateRetry.params, _meta: META_EXAMPLE },
    });
    expect(answer.json.error).toMatchObject({ code: -32602, data: { reason: "state_refused" } });
  });
});
