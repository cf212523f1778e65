// What other parts may use of the sealed state.
export type { Box } from "./box.ts";
export { base64url, canonicalJson, digest } from "./digest.ts";
export {
  createKeyring,
  generateKey,
  type Key,
  type Keyring,
  keyringFromEnv,
  type Purpose,
  randomKeyring,
} from "./keys.ts";
export { ANONYMOUS, knownFields, type Principal, readPrincipal } from "./principal.ts";
export { randomFromPool } from "./random.ts";
export {
  type Binding,
  type Bound,
  createSealer,
  type Opened,
  type Sealer,
  type SealerOptions,
  type StateRefusal,
  StateRefused,
  type Times,
} from "./seal.ts";
