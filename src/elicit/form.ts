import type { RequestedSchema } from "../protocol/index.ts";
import type { FieldValue } from "./schema.ts";

/** One thing a person may choose. */
export interface Option {
  readonly value: string;
  /** What to show; the value itself where the server gave no title. */
  readonly label: string;
}

interface FieldBase {
  readonly name: string;
  readonly title: string | undefined;
  readonly description: string | undefined;
  readonly required: boolean;
}

/** A line of text; lengths in code points. */
export interface StringField extends FieldBase {
  readonly kind: "string";
  readonly default: string | undefined;
  readonly minLength: number | undefined;
  readonly maxLength: number | undefined;
  readonly format: "email" | "uri" | "date" | "date-time" | undefined;
}

/** A number; both bounds are included. */
export interface NumberField extends FieldBase {
  readonly kind: "number" | "integer";
  readonly default: number | undefined;
  readonly minimum: number | undefined;
  readonly maximum: number | undefined;
  /** The minimum itself is not allowed, or the maximum: the form on the wire cannot say so. */
  readonly above?: true;
  readonly below?: true;
}

/** Yes or no. */
export interface BooleanField extends FieldBase {
  readonly kind: "boolean";
  readonly default: boolean | undefined;
}

/** One of the options. */
export interface ChoiceField extends FieldBase {
  readonly kind: "choice";
  readonly default: string | undefined;
  readonly options: readonly Option[];
}

/** Several of the options, each at most once. */
export interface ChoicesField extends FieldBase {
  readonly kind: "choices";
  readonly default: readonly string[] | undefined;
  readonly options: readonly Option[];
  readonly minItems: number | undefined;
  readonly maxItems: number | undefined;
}

/** One field of a form, ready to be shown; told apart by `kind`. */
export type Field = StringField | NumberField | BooleanField | ChoiceField | ChoicesField;

/** What is wrong with an answer, in words for the person who gave it. */
export interface Problem {
  /** The field's name; empty when the answer as a whole is meant. */
  readonly field: string;
  readonly message: string;
}

/** A checked answer: the author's typed value, or every problem that was found. */
export type Checked<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** A schema made ready to be asked, once. */
export interface Form<T> {
  /** What goes over the wire: flat and inline. */
  readonly requestedSchema: RequestedSchema;
  readonly fields: readonly Field[];
  /**
   * Checks the content of an accepted answer: first what the form says, then the author's own schema, whose transforms
   * and refinements apply. Fields that were not asked for are left out. A promise only when the author's schema is async.
   */
  check(content: unknown): Checked<T> | Promise<Checked<T>>;
}

/** What a form holds: values by field name, without a prototype. */
export type FormContent = Record<string, FieldValue>;
