/**
 * Faults of the library that are known: the shapes and checks that find them are left out unless they are asked for
 * (`npm run simulate -- --known`). A fault that is mended is taken out of the list.
 */
export const KNOWN_AT_BASE: readonly string[] = [];
