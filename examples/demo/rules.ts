import { z } from "zod";
import { NotDone, type Server } from "../../src/index.ts";
import type { Tracker } from "./tracker.ts";

const Update = z.object({
  workItemId: z.int(),
  fields: z.object({ "System.State": z.enum(["New", "Active", "Resolved", "Closed"]) }),
});

const Resolution = z.object({
  resolution: z.enum(["Fixed", "Won't Fix", "Duplicate", "By Design"]).describe("Resolution type for this bug"),
});

/**
 * The tool of SEP-2322's example: work items change by rules, and a rule may need something from a person.
 *
 * The handler is a straight line. Each round runs it from the top; what was answered, loaded or done before comes out of
 * the `requestState` that the client brings back, so any process that has the key can run the next round.
 */
export function registerRules(server: Server, tracker: Tracker): void {
  // What only the tracker knows is asked of it: an id that it does not have is asked for again, with this message.
  const Original = z.object({
    duplicateOfId: z
      .int()
      .refine((id) => tracker.find(id) !== undefined, "There is no work item with that id.")
      .describe("Work item ID of the original bug"),
  });

  server.tool(
    "update_work_item",
    { title: "Update a work item", description: "Changes the state of a work item by the rules", input: Update },
    async ({ workItemId, fields }, ctx) => {
      const state = fields["System.State"];
      const item = await ctx.step("item", () => tracker.find(workItemId));
      if (item === undefined) return refuse(`There is no work item #${workItemId}.`);
      const name = `${item.type} #${item.id}`;
      if (item.state === state) return refuse(`${name} is ${state} already.`);

      let resolution: string | null = null;
      let duplicateOf: number | null = null;
      // Rule 1: resolving a bug needs a resolution.
      if (item.type === "Bug" && state === "Resolved") {
        const message = `Resolving ${name} requires a resolution. How was this bug resolved?`;
        ({ resolution } = await ctx.elicit("resolution", { message, schema: Resolution }));
      }
      // Rule 2: a duplicate needs the original.
      if (resolution === "Duplicate") {
        const message = "Since this is a duplicate, which work item is the original?";
        ({ duplicateOfId: duplicateOf } = await ctx.elicit("duplicate_of", { message, schema: Original }));
        if (duplicateOf === item.id) return refuse(`${name} cannot be a duplicate of itself.`);
      }

      const how =
        resolution === null ? "" : ` as ${duplicateOf === null ? resolution : `a duplicate of #${duplicateOf}`}`;
      if (!(await ctx.confirm("sure", `Set ${name} "${item.title}" to ${state}${how}?`))) return "Nothing was changed.";

      // The key is the same in every round and on every process: whoever comes second is told what was done, and after a
      // crash in the middle the tracker knows by the key whether it was.
      const change = ({ idempotencyKey }: { readonly idempotencyKey: string }) => {
        const made = tracker.change({ item: item.id, state, resolution, duplicateOf }, idempotencyKey);
        if (made === undefined) throw new NotDone(`${name} was set to ${state} by somebody else meanwhile.`);
        return made;
      };
      const done = await ctx.once("change", { recover: change }, change);
      if (done.resolution === null) return `${name} updated. State set to ${done.state}.`;
      if (done.duplicateOf === null) return `${name} resolved as ${done.resolution}. State set to ${done.state}.`;
      const original = `${tracker.find(done.duplicateOf)?.type} #${done.duplicateOf}`;
      return `${name} resolved as Duplicate of ${original}. State set to ${done.state} and duplicate link created.`;
    },
  );
}

function refuse(text: string): { isError: true; content: { type: "text"; text: string }[] } {
  return { isError: true, content: [{ type: "text", text }] };
}
