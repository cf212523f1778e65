/**
 * Faults of the library that shapes are known to find. Those shapes are left out unless they are asked for
 * (`npm run simulate -- --known`); a fault that is mended is taken out of the list.
 */
export const KNOWN_AT_BASE: readonly string[] = ["H1", "H5", "H9", "H15"];
