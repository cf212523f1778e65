import { isObject, isUnsafe } from "../protocol/index.ts";
import type { ChoiceField, ChoicesField, Field, FormContent, NumberField, Problem, StringField } from "./form.ts";
import { formats } from "./formats.ts";
import type { FieldValue } from "./schema.ts";

const formatHints = {
  email: "an email address, like name@example.com",
  uri: "a full web address, like https://example.com/page",
  date: "a date, like 2026-07-28",
  "date-time": "a date and time with its zone, like 2026-07-28T14:30:00Z",
} as const;

/**
 * Says what is wrong with the content of a form, in words for the person who filled it; nothing when it is usable.
 *
 * Every field is judged, at most one problem each; fields that the form does not have are ignored, and null in a field
 * that is not required counts as left out.
 *
 * @example
 * ```ts
 * const problems = checkContent(readForm(params.requestedSchema), { email: "nobody" });
 * // [{ field: "email", message: '"email" must be an email address, like name@example.com.' }]
 * ```
 * @see https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#form-mode-security
 */
export function checkContent(fields: readonly Field[], content: unknown): Problem[] {
  const problems: Problem[] = [];
  takeContent(fields, content, Object.create(null), problems);
  return problems;
}

/** Copies the fields' own values from `content` into `into` and adds what is wrong with them to `problems`. */
export function takeContent(fields: readonly Field[], content: unknown, into: FormContent, problems: Problem[]): void {
  if (content !== undefined && !isObject(content)) {
    problems.push({ field: "", message: "The answer must be an object with one value a field." });
    return;
  }
  for (const field of fields) {
    const value = content !== undefined && Object.hasOwn(content, field.name) ? content[field.name] : undefined;
    if (value === undefined || (value === null && !field.required)) {
      if (field.required) problems.push({ field: field.name, message: `${labelOf(field)} is required.` });
      continue;
    }
    const problem = problemWith(field, value);
    if (problem !== undefined) problems.push({ field: field.name, message: `${labelOf(field)} ${problem}` });
    // problemWith has seen that it is one of the field's values.
    else into[field.name] = Array.isArray(value) ? [...value] : (value as FieldValue);
  }
}

/** The field's name for a person, in quotes. */
export function labelOf(field: Field): string {
  return `"${field.title ?? field.name}"`;
}

/** What is wrong with one field's value, without the field's name in front; undefined when nothing is. */
export function problemWith(field: Field, value: unknown): string | undefined {
  switch (field.kind) {
    case "string":
      return typeof value === "string" ? textProblem(field, value) : "must be text.";
    case "number":
    case "integer":
      return numberProblem(field, value);
    case "boolean":
      return typeof value === "boolean" ? undefined : "must be true or false.";
    case "choice":
      return isOption(field, value) ? undefined : `must be one of: ${optionList(field)}.`;
    case "choices":
      return choicesProblem(field, value);
  }
}

function textProblem(field: StringField, text: string): string | undefined {
  const { minLength, maxLength, format } = field;
  // Code points are at most UTF-16 units and at least half of them, so that a text is counted only when it is close.
  if (minLength !== undefined && text.length < minLength * 2 && codePoints(text) < minLength) {
    return minLength === 1 ? "must not be empty." : `must have at least ${minLength} characters.`;
  }
  if (
    maxLength !== undefined &&
    text.length > maxLength &&
    (text.length > maxLength * 2 || codePoints(text) > maxLength)
  ) {
    return `must have at most ${maxLength} ${maxLength === 1 ? "character" : "characters"}.`;
  }
  return format === undefined || formats[format](text) ? undefined : `must be ${formatHints[format]}.`;
}

function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

function numberProblem(field: NumberField, value: unknown): string | undefined {
  if (field.kind === "integer" ? !Number.isInteger(value) : !Number.isFinite(value)) {
    return field.kind === "integer" ? "must be a whole number." : "must be a number.";
  }
  const { minimum, maximum, above, below } = field;
  const number = value as number;
  const isHigh = minimum === undefined || (above ? number > minimum : number >= minimum);
  const isLow = maximum === undefined || (below ? number < maximum : number <= maximum);
  if (isHigh && isLow) {
    return field.kind === "integer" && isUnsafe(number) ? "has too many digits to be kept exactly." : undefined;
  }
  if (minimum !== undefined && maximum !== undefined && !above && !below) {
    return `must be between ${minimum} and ${maximum}.`;
  }
  const lower = minimum === undefined ? [] : [`${above ? "more than" : "at least"} ${minimum}`];
  const upper = maximum === undefined ? [] : [`${below ? "less than" : "at most"} ${maximum}`];
  return `must be ${[...lower, ...upper].join(" and ")}.`;
}

function choicesProblem(field: ChoicesField, value: unknown): string | undefined {
  if (!Array.isArray(value)) return `must be a list of: ${optionList(field)}.`;
  const { minItems, maxItems } = field;
  if (minItems !== undefined && value.length < minItems) return `needs at least ${count(minItems)}.`;
  if (maxItems !== undefined && value.length > maxItems) return `allows at most ${count(maxItems)}.`;
  // A list longer than the options repeats one of them: no need to look at a long list from a peer.
  if (value.length > field.options.length) return "may hold each choice once.";
  if (!value.every((item) => isOption(field, item))) return `must hold only: ${optionList(field)}.`;
  return new Set(value).size < value.length ? "may hold each choice once." : undefined;
}

function count(items: number): string {
  return items === 1 ? "1 choice" : `${items} choices`;
}

function isOption(field: ChoiceField | ChoicesField, value: unknown): boolean {
  return field.options.some((option) => option.value === value);
}

function optionList(field: ChoiceField | ChoicesField): string {
  const labels = field.options.slice(0, 10).map((option) => option.label);
  const more = field.options.length - labels.length;
  return more > 0 ? `${labels.join(", ")} and ${more} more` : labels.join(", ");
}
