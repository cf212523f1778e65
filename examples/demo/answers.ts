import { styleText } from "node:util";
import { type CANCEL_SYMBOL, confirm, isCancel, multiselect, S_BAR, select, text } from "@clack/prompts";
import { checkContent, type Field, type FieldValue, type FormAnswer, type FormAsk } from "../../src/client.ts";
import { plain, quietly, showAnswer } from "./show.ts";

/** A field's value, nothing for a field that may stay empty, or the wish to leave. */
type Typed = FieldValue | undefined | typeof CANCEL_SYMBOL;

/** Gives or gets the answer to a question. */
export type Answer = (ask: FormAsk) => FormAnswer | Promise<FormAnswer>;

/** What is answered when nobody is asked, by question. */
const GIVEN: ReadonlyMap<string, Readonly<Record<string, FieldValue>>> = new Map([
  ["resolution", { resolution: "Duplicate" }],
  ["duplicate_of", { duplicateOfId: 4301 }],
  ["region", { region: "Frankfurt" }],
  ["share", { share: "10 %" }],
  ["sure", { confirm: true }],
]);

/** Answers by itself, and declines what it was not told. */
export function answerAlone(ask: FormAsk): FormAnswer {
  const answer = GIVEN.get(ask.key) ?? "decline";
  showAnswer(ask, answer);
  return answer;
}

/** Asks in the terminal, one prompt a field. Escape or Ctrl+C leads to a choice between declining and cancelling. */
export function answerInTerminal(ask: FormAsk): Promise<FormAnswer> {
  return quietly(() => askInTerminal(ask));
}

async function askInTerminal(ask: FormAsk): Promise<FormAnswer> {
  const content: Record<string, FieldValue | undefined> = {};
  for (let index = 0; index < ask.fields.length; ) {
    const field = ask.fields[index] as Field;
    const value = await prompt(field, wording(ask, index), ask.signal);
    if (!isCancel(value)) {
      content[field.name] = value;
      index += 1;
      continue;
    }
    const choice = await select({
      message: "Leave this question?",
      options: [
        { value: "back", label: "Back to it" },
        { value: "decline", label: "Decline: say no" },
        { value: "cancel", label: "Cancel: give no answer" },
      ],
      signal: ask.signal,
    });
    if (choice === "decline") return "decline";
    if (choice !== "back") return "cancel";
  }
  return content;
}

/** The question and what was wrong before over the first field, its own words over each. */
function wording(ask: FormAsk, index: number): string {
  const { title, name, description } = ask.fields[index] as Field;
  const lines = index === 0 ? [ask.message, ...ask.problems.map((problem) => problem.message)] : [];
  if (ask.fields.length > 1) lines.push(title ?? name);
  if (description !== undefined) lines.push(description);
  return plain(lines.join("\n"));
}

function prompt(field: Field, message: string, signal: AbortSignal): Promise<Typed> {
  switch (field.kind) {
    case "boolean":
      return confirm({ message, signal, initialValue: field.default ?? true });
    case "choice": {
      const options = field.options.map(({ value, label }) => ({ value, label: plain(label) }));
      return select({
        message,
        signal,
        options,
        ...(field.default === undefined ? {} : { initialValue: field.default }),
      });
    }
    case "choices": {
      const options = field.options.map(({ value, label }) => ({ value, label: plain(label) }));
      return multiselect({
        message,
        signal,
        options,
        initialValues: [...(field.default ?? [])],
        required: field.required,
      });
    }
    default:
      return promptText(field, message, signal);
  }
}

async function promptText(field: Field, message: string, signal: AbortSignal): Promise<Typed> {
  const read = (typed: string | undefined): FieldValue | undefined => {
    const trimmed = typed?.trim() ?? "";
    if (trimmed === "") return undefined;
    return field.kind === "string" ? trimmed : Number(trimmed);
  };
  const typed = await text({
    // Unlike the other prompts, this one draws its bar beside the first line only.
    message: message.replaceAll("\n", `\n${styleText("gray", S_BAR)}  `),
    signal,
    initialValue: field.default === undefined ? "" : String(field.default),
    validate: (value) => checkContent([field], { [field.name]: read(value) })[0]?.message,
  });
  return isCancel(typed) ? typed : read(typed);
}
