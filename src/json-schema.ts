// volley-mcp/json-schema: plain JSON Schema 2020-12 for tools whose author has no schema library, checked by ajv.
export { type JsonSchemaOptions, jsonSchema } from "./server/catalog/json-schema.ts";
