// What other parts may use of the sealed state.
export type { Box } from "./box.ts";
export type { Key, Keyring, Purpose } from "./keys.ts";
export { ANONYMOUS, type Principal } from "./principal.ts";
export { type StateRefusal, StateRefused } from "./refused.ts";
export type { Binding, Bound, Opened, Sealer, SealerOptions, Times } from "./seal.ts";
