import { setTimeout as delay } from "node:timers/promises";
import { expect, vi } from "vitest";
import { MODEL_SAYS, type Peer, ROOT } from "./peer.ts";

type Probe = (peer: Peer) => Promise<void>;

/** One column of the matrix: what is tried with one client against one server. Both servers know the same names. */
export const probes: Readonly<Record<string, Probe>> = {
  async tools(peer) {
    expect(await peer.tools()).toEqual(expect.arrayContaining(["test_simple_text", "add_numbers"]));
    expect(await peer.call("test_simple_text")).toMatchObject({
      text: "This is a simple text response for testing.",
      isError: false,
    });
    expect((await peer.call("add_numbers", { a: 2, b: 3 })).structured).toEqual({ sum: 5 });
    expect((await peer.call("test_x_mcp_header", { region: "Île" })).text).toBe("region=Île");
    expect(await peer.call("test_error_handling")).toMatchObject({ isError: true });
    expect(await peer.call("add_numbers", { a: "two" })).toMatchObject({ isError: true });
    await expect(peer.call("no_such_tool")).rejects.toMatchObject({ code: -32602 });
  },

  async prompts(peer) {
    expect(await peer.prompts()).toEqual(expect.arrayContaining(["test_simple_prompt"]));
    expect(await peer.prompt("test_simple_prompt")).toBe("This is a simple prompt for testing.");
    expect(await peer.prompt("test_prompt_with_arguments", { arg1: "a", arg2: "b" })).toBe(
      "Prompt with arguments: arg1='a', arg2='b'",
    );
    await expect(peer.prompt("no_such_prompt")).rejects.toMatchObject({ code: -32602 });
  },

  async resources(peer) {
    expect(await peer.resources()).toEqual(expect.arrayContaining(["test://static-text"]));
    expect(await peer.read("test://static-text")).toBe("This is the content of the static text resource.");
    expect(await peer.read("test://static-binary")).not.toBe("");
    await expect(peer.read("test://nothing-here")).rejects.toMatchObject({ code: -32602 });
  },

  async templates(peer) {
    expect(await peer.templates()).toContain("test://template/{id}/data");
    expect(JSON.parse(await peer.read("test://template/7/data"))).toEqual({
      id: "7",
      templateTest: true,
      data: "Data for ID: 7",
    });
  },

  async completion(peer) {
    const prompt = { type: "ref/prompt", name: "test_prompt_with_arguments" } as const;
    expect(await peer.complete(prompt, "arg1", "par")).toEqual(["paris", "park", "party"]);
    const template = { type: "ref/resource", uri: "test://template/{id}/data" } as const;
    expect(await peer.complete(template, "id", "12")).toEqual(["123", "124"]);
  },

  async progress(peer) {
    const seen: number[] = [];
    await peer.call("test_tool_with_progress", {}, { onProgress: (progress) => seen.push(progress) });
    expect(seen).toEqual([0, 50, 100]);
    await peer.call("test_tool_with_progress"); // without a token nothing is sent, and nothing breaks
  },

  async logging(peer) {
    const logged = async (logLevel?: "info" | "warning"): Promise<string[]> => {
      const lines: string[] = [];
      const onLog = (line: string): void => void lines.push(line);
      await peer.call("test_tool_with_logging", {}, { onLog, ...(logLevel === undefined ? {} : { logLevel }) });
      return lines;
    };
    expect(await logged()).toEqual([]);
    expect(await logged("info")).toEqual(["Tool execution started", "Tool execution completed"]);
    expect(await logged("warning")).toEqual(["Tool execution completed"]);
  },

  async cancellation(peer) {
    const count = async (): Promise<number> => Number((await peer.call("count_cancelled")).text);
    const before = await count();
    const abort = new AbortController();
    const waiting = peer.call("wait_for_cancel", {}, { signal: abort.signal });
    setTimeout(() => abort.abort(), 200);
    await expect(waiting).rejects.toThrow();
    await vi.waitFor(async () => expect(await count()).toBe(before + 1), { timeout: 5_000 });
  },

  async subscriptions(peer) {
    const heard: string[] = [];
    const stop = await peer.listen(
      { toolsListChanged: true, resourcesListChanged: true, resourceSubscriptions: ["test://watched-resource"] },
      (method, params) => heard.push("uri" in params ? `${method} ${params.uri}` : method),
    );
    await peer.call("test_trigger_tool_change");
    await peer.call("test_trigger_prompt_change"); // not asked for
    await peer.call("test_trigger_resource_change");
    await peer.call("touch_resource", { uri: "test://static-text" }); // not asked for
    await peer.call("touch_resource", { uri: "test://watched-resource" });
    await vi.waitFor(() => expect(heard).toHaveLength(3), { timeout: 5_000 });
    await stop();
    await peer.call("test_trigger_tool_change");
    await delay(100);
    expect(heard.sort()).toEqual([
      "notifications/resources/list_changed",
      "notifications/resources/updated test://watched-resource",
      "notifications/tools/list_changed",
    ]);
  },

  async rounds(peer) {
    for (const play of Object.values(rounds)) await play(peer);
  },
};

type RoundName =
  | "threeQuestions"
  | "nineResults"
  | "prompt"
  | "resource"
  | "form"
  | "url"
  | "sampling"
  | "roots"
  | "stateOnly";

/** The kinds of rounds, each with what it must have asked. */
export const rounds: Readonly<Record<RoundName, Probe>> = {
  threeQuestions: (peer) =>
    played(peer, () => peer.call("three_questions").then(textOf), "You are Ada, blue, Turin.", [
      "form name",
      "form color",
      "form city",
    ]),
  nineResults: (peer) =>
    played(
      peer,
      () => peer.call("nine_rounds").then(textOf),
      `Packed: ${NINE.map((item) => `my ${item}`).join(", ")}.`,
      NINE.map((item) => `form ${item}`),
    ),
  prompt: (peer) =>
    played(peer, () => peer.prompt("test_input_required_result_prompt"), "Use the following context: my context", [
      "form context",
    ]),
  resource: (peer) =>
    played(peer, () => peer.read("test://input-required"), "A text for my audience.", ["form audience"]),
  form: (peer) =>
    played(peer, () => peer.call("test_input_required_result_elicitation").then(textOf), "Hello, Ada!", ["form name"]),
  url: (peer) =>
    played(peer, () => peer.call("sign_in_by_url").then(textOf), "Signed in.", [
      "url https://example.com/sign-in?flow=7",
    ]),
  sampling: (peer) =>
    played(peer, () => peer.call("test_input_required_result_sampling").then(textOf), MODEL_SAYS, [
      "sampling What is the capital of France?",
    ]),
  roots: (peer) => played(peer, () => peer.call("test_input_required_result_list_roots").then(textOf), ROOT, ["roots"]),
  stateOnly: (peer) =>
    played(peer, () => peer.call("state_only").then(textOf), "Prepared elsewhere, finished here.", []),
};

const NINE = Array.from({ length: 9 }, (_, index) => `item${index + 1}`);

async function played(peer: Peer, play: () => Promise<string>, says: string, asks: readonly string[]): Promise<void> {
  const before = peer.asked.length;
  expect(await play()).toBe(says);
  expect(peer.asked.slice(before)).toEqual(asks);
}

function textOf({ text }: { text: string }): string {
  return text;
}
