import type { RequestedSchema } from "../protocol/index.ts";
import type { Field } from "./form.ts";
import { readForm } from "./read-form.ts";

/** The http(s) addresses in a text, as a client might make them clickable. */
export function findClickableUrls(text: string): string[] {
  return Array.from(text.matchAll(/https?:\/\/[^\s<>"'`|\\^{}]+/gi), ([url]) => url.replace(/[.,;:!?)\]]+$/, ""));
}

/**
 * What is unwise in a form, in words for its author: addresses to click in its message, titles, descriptions or choices.
 *
 * A default is a value and may be an address. Meant for development; the caller decides what to do with it.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#safe-url-handling
 */
export function formWarnings(message: string, requestedSchema: RequestedSchema): string[] {
  const warnings = warningsIn("The message of the form", message);
  for (const field of readForm(requestedSchema)) {
    warnings.push(...warningsIn(`Field ${JSON.stringify(field.name)}`, shownTexts(field).join("\n")));
  }
  return warnings;
}

function shownTexts(field: Field): string[] {
  const labels = field.kind === "choice" || field.kind === "choices" ? field.options.map((option) => option.label) : [];
  return [field.title ?? field.name, field.description ?? "", ...labels];
}

function warningsIn(subject: string, text: string): string[] {
  return findClickableUrls(text).map(
    (url) =>
      `${subject} shows ${url}, and a form should hold no address to click: ask with ctx.elicitUrl, or name the place in words.`,
  );
}
