/**
 * Faults of the library that are known: the shapes and checks that find them are left out unless they are asked for
 * (`npm run simulate -- --known`). A fault that is mended is taken out of the list.
 *
 * heartbeat: a claim is renewed for ever when its effect ends while a renewal is under way. single-use: a state is used with
 * two answers when the claim of its round comes too late and is given back, although the same round has come again meanwhile
 * and relied on it.
 */
export const KNOWN_AT_BASE: readonly string[] = ["heartbeat", "single-use"];
