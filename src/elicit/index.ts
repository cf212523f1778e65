// From an author's schema to the flat form of the protocol, and from its answer back to the author's value.
export { checkContent } from "./check.ts";
export { compileForm } from "./compile.ts";
export { defaults } from "./defaults.ts";
export type {
  BooleanField,
  Checked,
  ChoiceField,
  ChoicesField,
  Field,
  Form,
  FormContent,
  NumberField,
  Option,
  Problem,
  StringField,
} from "./form.ts";
export { readForm } from "./read-form.ts";
export type {
  FieldValue,
  FormSchema,
  FormValue,
  RestrictedField,
  RestrictedSchema,
  StandardIssue,
  StandardJsonSchemaOptions,
  StandardResult,
  StandardSchema,
} from "./schema.ts";
export { findClickableUrls, formWarnings } from "./warnings.ts";
