import type { PrimitiveSchemaDefinition } from "../protocol/index.ts";

/**
 * A schema of any library with Standard Schema and Standard JSON Schema: zod 4.2 or newer, arktype 2.2 or newer, and
 * valibot through `toStandardJsonSchema` of `@valibot/to-json-schema`.
 *
 * @see https://standardschema.dev
 */
export interface StandardSchema<Output = unknown> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly jsonSchema: {
      readonly input: (options: StandardJsonSchemaOptions) => Record<string, unknown>;
      readonly output: (options: StandardJsonSchemaOptions) => Record<string, unknown>;
    };
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
  };
}

/** What a {@link StandardSchema} is asked for when it turns itself into JSON Schema. */
export interface StandardJsonSchemaOptions {
  readonly target: "draft-2020-12" | "draft-07" | "openapi-3.0" | (string & {});
  readonly libraryOptions?: Record<string, unknown> | undefined;
}

/** What a {@link StandardSchema} says of a value. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

/** One objection of a {@link StandardSchema}. */
export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

type DeepReadonly<T> = T extends object ? { readonly [K in keyof T]: DeepReadonly<T[K]> } : T;

/**
 * One field of a {@link RestrictedSchema}: what the protocol allows.
 *
 * `"x-volley-not-secret": true` says that a field whose name reads like a secret holds none; it does not reach the client.
 */
export type RestrictedField = DeepReadonly<PrimitiveSchemaDefinition> & { readonly "x-volley-not-secret"?: boolean };

/**
 * A form written as the plain JSON Schema that the protocol allows: a flat object of primitives and choices.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#requested-schema
 */
export interface RestrictedSchema {
  readonly $schema?: string;
  readonly type: "object";
  readonly properties: { readonly [name: string]: RestrictedField };
  readonly required?: readonly string[];
}

/** What an author may give as the schema of a form. */
export type FormSchema<Output = unknown> = StandardSchema<Output> | RestrictedSchema;

/** What one field of a form holds on the wire. */
export type FieldValue = string | number | boolean | string[];

/**
 * What a checked answer to a form is: the output of a library's schema, or what a plain schema's literal type says.
 *
 * Fields of a plain schema that `required` does not name are optional; without literal types it is a record.
 */
export type FormValue<Schema> =
  Schema extends StandardSchema<infer Output>
    ? Output
    : Schema extends { readonly properties: infer Properties }
      ? string extends keyof Properties
        ? Record<string, FieldValue>
        : RestrictedValue<Properties, RequiredName<Schema>>
      : never;

type RequiredName<Schema> = Schema extends { readonly required: readonly (infer Name)[] }
  ? string extends Name
    ? never
    : Name
  : never;

type RestrictedValue<Properties, Required> = Flat<
  {
    -readonly [Name in keyof Properties as Name extends Required ? Name : never]: RestrictedFieldValue<
      Properties[Name]
    >;
  } & {
    -readonly [Name in keyof Properties as Name extends Required ? never : Name]?: RestrictedFieldValue<
      Properties[Name]
    >;
  }
>;

type Flat<T> = { [K in keyof T]: T[K] };

type RestrictedFieldValue<Field> = Field extends { readonly items: infer Items }
  ? Option<Items>[]
  : Field extends { readonly enum: readonly unknown[] } | { readonly oneOf: readonly unknown[] }
    ? Option<Field>
    : Field extends { readonly type: "string" }
      ? string
      : Field extends { readonly type: "number" | "integer" }
        ? number
        : Field extends { readonly type: "boolean" }
          ? boolean
          : FieldValue;

type Option<Choice> = Choice extends { readonly enum: readonly (infer Value extends string)[] }
  ? Value
  : Choice extends { readonly oneOf: readonly { readonly const: infer Value extends string }[] }
    ? Value
    : Choice extends { readonly anyOf: readonly { readonly const: infer Value extends string }[] }
      ? Value
      : string;
