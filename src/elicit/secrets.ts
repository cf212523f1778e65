import type { Field } from "./form.ts";

// Compared in lower case without "_" and "-": api_key, apiKey and API-KEY are one name.
const secretNames: ReadonlySet<string> = new Set([
  "password",
  "passwd",
  "passphrase",
  "passcode",
  "secret",
  "secretkey",
  "clientsecret",
  "apikey",
  "apisecret",
  "apitoken",
  "accesskey",
  "accesstoken",
  "authtoken",
  "bearertoken",
  "refreshtoken",
  "idtoken",
  "sessiontoken",
  "personalaccesstoken",
  "privatekey",
  "signingkey",
  "encryptionkey",
  "credential",
  "credentials",
  "otp",
  "totp",
  "onetimepassword",
  "recoverycode",
  "seedphrase",
  "cardnumber",
  "creditcard",
  "creditcardnumber",
  "cvc",
  "cvv",
]);

/**
 * Why a field reads as if it asked for a secret; undefined when it does not.
 *
 * Explicit hints only: JSON Schema's `format: "password"` and `writeOnly: true`, or a text or number field that is
 * called exactly like a secret. The schema's own `"x-volley-not-secret": true` overrules all three.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#user-interaction-model
 */
export function secretHint(name: string, kind: Field["kind"], schema: Record<string, unknown>): string | undefined {
  if (schema["x-volley-not-secret"] === true) return undefined;
  if (schema.format === "password") return 'has the format "password"';
  if (schema.writeOnly === true) return "is writeOnly";
  const holdsSecrets = kind === "string" || kind === "number" || kind === "integer";
  return holdsSecrets && secretNames.has(name.toLowerCase().replaceAll(/[_-]/g, ""))
    ? "is named like a secret"
    : undefined;
}
