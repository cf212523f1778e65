import { z } from "zod";
import { createServer, type Server } from "../../src/index.ts";
import { tracker } from "./tracker.ts";

const Resolution = z.object({ resolution: z.enum(["Fixed", "Won't Fix", "Duplicate"]) });
const Original = z.object({ id: z.int() });

export const server: Server = createServer({ name: "tracker", version: "1.0.0", singleInstance: true });

server.tool("resolve_bug", { input: z.object({ id: z.int() }) }, async ({ id }, ctx) => {
  const bug = await ctx.step("load", () => tracker.load(id)); // done once, remembered
  const { resolution } = await ctx.elicit("resolution", { message: `How was #${id} resolved?`, schema: Resolution });
  const original =
    resolution === "Duplicate"
      ? await ctx.elicit("original", { message: "Which bug is the original?", schema: Original })
      : undefined;
  if (!(await ctx.confirm("sure", `Close "${bug.title}" as ${resolution}?`))) return "Left open.";
  await ctx.once("close", () => tracker.close(id, resolution, original?.id)); // happens once, whatever is replayed
  return `#${id} closed as ${resolution}.`;
});
