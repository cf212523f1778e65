import { z } from "zod";
import type { InputRequired, Server } from "./volley.ts";

const Guest = z.object({
  email: z.email().meta({ title: "E-mail" }),
  arrival: z.iso.date().optional(),
  nights: z.int().min(1).max(14).default(2),
  room: z.enum(["single", "double", "suite"]).default("double"),
  view: z
    .union([z.literal("sea").meta({ title: "To the sea" }), z.literal("yard").meta({ title: "To the yard" })])
    .optional(),
  extras: z
    .array(z.enum(["breakfast", "parking", "bicycle"]))
    .max(2)
    .optional(),
  newsletter: z.boolean().default(true),
});

/** What the suite does not ask for: flows of many rounds, effects that happen once, races, tickets, URL mode, full forms. */
export function registerShowcase(server: Server): void {
  server.tool("three_questions", { description: "Asks three things, one after the other" }, async (_args, ctx) => {
    const answers: string[] = [];
    for (const field of ["name", "color", "city"]) {
      answers.push(await ctx.elicit(field, { message: `What about ${field}?`, schema: oneText(field) }).then(only));
    }
    return `You are ${answers.join(", ")}.`;
  });
  server.tool("nine_rounds", { description: "Asks nine things, one after the other" }, async (_args, ctx) => {
    const packed: string[] = [];
    for (let item = 1; item <= 9; item++) {
      const field = `item${item}`;
      packed.push(await ctx.elicit(field, { message: `What about ${field}?`, schema: oneText(field) }).then(only));
    }
    return `Packed: ${packed.join(", ")}.`;
  });
  server.tool("register_guest", { description: "Asks by a form with every kind of field" }, async (_args, ctx) => {
    const guest = await ctx.elicit("guest", { message: "Who is coming, and for how long?", schema: Guest });
    return JSON.stringify(guest);
  });
  server.tool("confirm_or_not", { description: "Asks yes or no" }, async (_args, ctx) => {
    return (await ctx.confirm("sure", "Go ahead?")) ? "Went ahead." : "Left alone.";
  });
  server.tool("say_no", { description: "Shows what became of a question" }, async (_args, ctx) => {
    const outcome = await ctx.elicit.outcome("reason", { message: "Why not?", schema: oneText("reason") });
    return outcome.action === "accept" ? only(outcome.value) : `You chose to ${outcome.action}.`;
  });
  server.tool("sign_in_by_url", { description: "Sends the user to a page" }, async (_args, ctx) => {
    await ctx.elicitUrl("sign_in", { message: "Sign in to go on", url: "https://example.com/sign-in?flow=7" });
    return "Signed in.";
  });
  server.tool("state_only", { description: "Goes on in another request without a question" }, async (_args, ctx) => {
    await ctx.step("prepare", () => "prepared");
    await ctx.yield();
    return "Prepared elsewhere, finished here.";
  });
  server.tool("first_of_two", { description: "Asks two people and takes the first answer" }, async (_args, ctx) => {
    const ask = (who: string) => ctx.elicit(who, { message: `${who}, how much?`, schema: oneText("amount") });
    const first = await ctx.race({ alice: () => ask("alice"), bob: () => ask("bob") });
    return `Somebody said ${only(first.value)}.`;
  });
  server.tool("remember", { description: "Shows that steps are done once a flow" }, async (_args, ctx) => {
    const [started, ticket, dice] = [await ctx.now("started"), await ctx.uuid("ticket"), await ctx.random("dice")];
    const opened = await ctx.use(
      () => ({ round: ctx.round }),
      () => {},
    );
    await ctx.elicit("more", { message: `Ticket ${ticket}: anything else?`, schema: oneText("more") });
    return JSON.stringify({ started, ticket, dice, openedInRound: opened.round });
  });

  const charges = new Map<string, number>();
  server.tool(
    "charge_once",
    { description: "Charges an order once, however often it is called", input: z.object({ order: z.string() }) },
    async ({ order }, ctx) => {
      const total = await ctx.once("charge", { key: order, keepFor: 3_600_000 }, () => {
        charges.set(order, (charges.get(order) ?? 0) + 1);
        return charges.get(order);
      });
      return `Order ${order} was charged ${total} time.`;
    },
  );
  server.tool("charge_after_asking", { description: "Asks, then charges once" }, async (_args, ctx) => {
    if (!(await ctx.confirm("sure", "Charge 20 EUR?"))) return "Not charged.";
    await ctx.once("charge", ({ idempotencyKey }) => idempotencyKey);
    return "Charged.";
  });

  server.tool("manual_rounds", { description: "Written in the specification's own shape" }, (_args, ctx) => {
    const answer = textOf(ctx.inputResponses?.word);
    const words = [...(ctx.requestState?.split(" ") ?? []), ...(answer === undefined ? [] : [answer])];
    if (words.length >= 2) return `Words: ${words.join(" and ")}.`;
    return askWord(words);
  });
}

/** A form of one text. Made once a field, since a schema is compiled the first time it is seen. */
function oneText(field: string): z.ZodObject<Record<string, z.ZodString>> {
  const known = forms.get(field) ?? z.object({ [field]: z.string() });
  forms.set(field, known);
  return known;
}
const forms = new Map<string, z.ZodObject<Record<string, z.ZodString>>>();

function only(value: Record<string, string>): string {
  return Object.values(value)[0] ?? "";
}

function askWord(words: readonly string[]): InputRequired {
  return {
    resultType: "input_required",
    inputRequests: {
      word: {
        method: "elicitation/create",
        params: {
          mode: "form",
          message: `Word ${words.length + 1}?`,
          requestedSchema: { type: "object", properties: { word: { type: "string" } }, required: ["word"] },
        },
      },
    },
    ...(words.length === 0 ? {} : { requestState: words.join(" ") }),
  };
}

/** The word of an accepted answer; the answer is what a client sent, so nothing is taken for granted. */
function textOf(response: unknown): string | undefined {
  return Word.safeParse(response).data?.content.word;
}
const Word = z.object({ action: z.literal("accept"), content: z.object({ word: z.string() }) });
