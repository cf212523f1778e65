import { VolleyError } from "../protocol/index.ts";

/**
 * Where a JSON Schema comes from, which decides what happens to a keyword that the form cannot say.
 *
 * A `library` holds it itself when the answer comes back, so it is dropped; nobody would hold it for a `literal`, so it is
 * refused; a `peer` holds it on its side, so it is ignored.
 */
export type Source = "library" | "literal" | "peer";

/** Throws: what a form cannot say, and the way out, which is the author's and no concern of a peer's. */
export function refuse(source: Source, subject: string, fault: string, wayOut: string): never {
  if (source === "peer") {
    throw new VolleyError("message_invalid", `The server's form cannot be shown: ${subject} ${fault}.`);
  }
  throw new VolleyError("form_unsupported", `${subject} ${fault}. ${wayOut}`);
}

/** How a refusal speaks of a field; a peer's name may be of any length. */
export function fieldSubject(name: string): string {
  return `Field ${JSON.stringify(name.length > 80 ? `${name.slice(0, 80)}…` : name)}`;
}
