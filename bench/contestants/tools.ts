import * as z from "zod";

/**
 * The tools that every contestant serves, with schemas made once.
 *
 * `add` is a plain call; `resolve_bug` asks one form; `resolve_duplicate` asks two, one after the other (three rounds).
 */
export const AddInput = z.object({ a: z.number(), b: z.number() });
export const BugInput = z.object({ id: z.int() });

export const Resolution = z.object({
  resolution: z.enum(["Fixed", "Duplicate", "Invalid", "Works for me"]),
  note: z.string().max(500).optional(),
});
export const Original = z.object({ original: z.int().min(1) });

type Field =
  | { type: "string"; enum: string[] }
  | { type: "string"; maxLength: number }
  | { type: "integer"; minimum: number };

type FormSchema = {
  type: "object";
  properties: Record<string, Field>;
  required: string[];
};

/** The same forms as JSON Schema, for contestants that do better with a constant. */
export const RESOLUTION_FORM: FormSchema = {
  type: "object",
  properties: {
    resolution: { type: "string", enum: ["Fixed", "Duplicate", "Invalid", "Works for me"] },
    note: { type: "string", maxLength: 500 },
  },
  required: ["resolution"],
};
export const ORIGINAL_FORM: FormSchema = {
  type: "object",
  properties: { original: { type: "integer", minimum: 1 } },
  required: ["original"],
};

export const DESCRIPTIONS = {
  add: "Adds two numbers.",
  resolve_bug: "Closes a bug once a person has said how it was resolved.",
  resolve_duplicate: "Closes a bug as a duplicate once a person has named the original.",
} as const;

export const text = {
  howResolved: (id: number): string => `How was #${id} resolved?`,
  whichOriginal: (id: number): string => `Which item is the original of #${id}?`,
  closed: (id: number, resolution: string): string => `#${id} closed as ${resolution}.`,
  duplicate: (id: number, resolution: string, original: number): string =>
    `#${id} closed as ${resolution} of #${original}.`,
};

const FillerFields = {
  project: "Key of the project that the work item belongs to, as in its address.",
  title: "One line that says what is wrong or wanted.",
  assignee: "Login of the person who is to do it.",
};

/** One of the tools that only stand in the list. */
export interface Filler {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: z.ZodObject;
}

/** Tools to fill the list up with; each has a schema of its own, as real tools do. */
export function fillers(count: number): readonly Filler[] {
  return Array.from({ length: Math.max(0, count) }, (_, index) => ({
    name: `work_item_${String(index + 1).padStart(4, "0")}`,
    title: `Work item action ${index + 1}`,
    description: "Finds the work item, checks that the caller may change it, changes it and returns its new state.",
    input: z.object({
      project: z.string().describe(FillerFields.project),
      title: z.string().min(1).max(200).describe(FillerFields.title),
      priority: z.enum(["low", "normal", "high", "urgent"]).default("normal"),
      estimate: z.number().min(0).max(400).optional(),
      assignee: z.string().optional().describe(FillerFields.assignee),
    }),
  }));
}

/** How many tools are not fillers. */
export const CORE_TOOLS = 3;
