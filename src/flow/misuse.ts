// What TypeScript's compiler says of a wrong call, for authors who have none.
import { checkOptions, describeValue, isObject, VolleyError } from "../protocol/index.ts";

/**
 * Refuses a call of the context whose first argument is no name.
 *
 * @param example the call as it should be
 * @throws VolleyError `context_misused`
 */
export function checkName(call: string, name: unknown, example: string): void {
  if (typeof name === "string" && name !== "") return;
  throw new VolleyError(
    "context_misused",
    `ctx.${call} needs a name of its own first, the same in each round, not ${describeValue(name)}: ctx.${example}.`,
  );
}

/**
 * Refuses a question that lacks something, or has something that does not exist.
 *
 * @throws VolleyError `context_misused`, `invalid_options`
 */
export function checkQuestion(call: string, key: string, question: unknown, known: object, needed: string[]): void {
  const where = `ctx.${call}(${JSON.stringify(key)}, ...)`;
  if (!isObject(question)) {
    throw new VolleyError(
      "context_misused",
      `${where} needs its question as the second argument, { ${needed.join(", ")} }, not ${describeValue(question)}.`,
    );
  }
  checkOptions(where, question, known);
  const missing = needed.find((name) => question[name] === undefined);
  if (missing !== undefined) {
    throw new VolleyError("context_misused", `${where} needs a \`${missing}\` in its question.`);
  }
  checkMessage(where, question.message);
}

/** @throws VolleyError `context_misused` */
export function checkMessage(where: string, message: unknown): void {
  if (typeof message === "string") return;
  throw new VolleyError("context_misused", `${where} needs its message as a string, not ${describeValue(message)}.`);
}
