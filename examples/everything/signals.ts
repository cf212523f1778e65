import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import type { Server } from "./volley.ts";

/** Tools that send notifications or receive them: progress, log messages, cancellation, changed lists and resources. */
export function registerSignals(server: Server): void {
  server.tool("test_tool_with_progress", { description: "Reports its progress" }, async (_args, ctx) => {
    for (const progress of [0, 50, 100]) {
      ctx.progress(progress, 100, `${progress} of 100`);
      await delay(50);
    }
    return "Done.";
  });
  server.tool("test_tool_with_logging", { description: "Logs three lines" }, async (_args, ctx) => {
    ctx.log("debug", "Tool execution detail");
    ctx.log("info", "Tool execution started");
    await delay(50);
    ctx.log("warning", "Tool execution completed");
    return "Logged.";
  });
  server.tool("test_logging_tool", { description: "Logs one line when the request asked for it" }, (_args, ctx) => {
    ctx.log("info", "Seen only by requests that set a log level", "everything");
    return "Logged.";
  });

  let cancelled = 0;
  server.tool("wait_for_cancel", { description: "Waits until its caller gives up" }, async (_args, ctx) => {
    try {
      await delay(15_000, undefined, { signal: ctx.signal });
    } catch {
      cancelled += 1;
    }
    return "Nobody gave up.";
  });
  server.tool("count_cancelled", { description: "Says how many waits were given up" }, () => String(cancelled));

  server.tool("test_trigger_tool_change", { description: "Announces a change of the tools" }, () => {
    server.toolsChanged();
    return "Announced.";
  });
  server.tool("test_trigger_prompt_change", { description: "Announces a change of the prompts" }, () => {
    server.promptsChanged();
    return "Announced.";
  });
  server.tool("test_trigger_resource_change", { description: "Announces a change of the resources" }, () => {
    server.resourcesChanged();
    return "Announced.";
  });
  server.tool(
    "touch_resource",
    { description: "Announces a new content of a resource", input: z.object({ uri: z.string() }) },
    ({ uri }) => {
      server.resourceUpdated(uri);
      return "Announced.";
    },
  );
}
