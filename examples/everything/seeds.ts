import { z } from "zod";
import type { InputRequired, Server } from "./volley.ts";

/** The examples of SEP-2322 with their names and numbers. */
export function registerSeeds(server: Server): void {
  server.tool(
    "get_weather",
    { description: "Says the weather to users of GitHub", input: z.object({ location: z.string() }) },
    async ({ location }, ctx) => {
      await ctx.elicit("github_login", { message: "Please provide your GitHub username", schema: Login });
      return `Current weather in ${location}:\nTemperature: 72°F\nConditions: Partly cloudy`;
    },
  );

  // In the specification's own shape: the SEP's first question carries no state, and a straight line always would.
  server.tool("update_work_item", { description: "Changes a work item by its rules", input: Update }, (update, ctx) => {
    if (update.fields["System.State"] !== "Resolved") return `Bug #${update.workItemId} updated.`;
    const resolution =
      ctx.requestState ?? Resolution.safeParse(ctx.inputResponses?.resolution).data?.content.resolution;
    if (resolution === undefined) return askResolution(update.workItemId);
    if (resolution !== "Duplicate")
      return `Bug #${update.workItemId} resolved as ${resolution}. State set to Resolved.`;
    const original = Original.safeParse(ctx.inputResponses?.duplicate_of).data?.content.duplicateOfId;
    if (original === undefined) return askOriginal(resolution);
    return (
      `Bug #${update.workItemId} resolved as Duplicate of Bug #${original}. ` +
      "State set to Resolved and duplicate link created."
    );
  });
}

const Login = z.object({ name: z.string() });
const Update = z.object({ workItemId: z.number(), fields: z.record(z.string(), z.string()) });
const RESOLUTIONS = ["Fixed", "Won't Fix", "Duplicate", "By Design"] as const;
const Resolution = z.object({
  action: z.literal("accept"),
  content: z.object({ resolution: z.enum(RESOLUTIONS) }),
});
const Original = z.object({ action: z.literal("accept"), content: z.object({ duplicateOfId: z.number() }) });

function askResolution(workItemId: number): InputRequired {
  return {
    resultType: "input_required",
    inputRequests: {
      resolution: {
        method: "elicitation/create",
        params: {
          message: `Resolving Bug #${workItemId} requires a resolution. How was this bug resolved?`,
          requestedSchema: {
            type: "object",
            properties: {
              resolution: { type: "string", enum: [...RESOLUTIONS], description: "Resolution type for this bug" },
            },
            required: ["resolution"],
          },
        },
      },
    },
  };
}

function askOriginal(requestState: string): InputRequired {
  return {
    resultType: "input_required",
    inputRequests: {
      duplicate_of: {
        method: "elicitation/create",
        params: {
          message: "Since this is a duplicate, which work item is the original?",
          requestedSchema: {
            type: "object",
            properties: { duplicateOfId: { type: "number", description: "Work item ID of the original bug" } },
            required: ["duplicateOfId"],
          },
        },
      },
    },
    requestState,
  };
}
