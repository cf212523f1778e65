/** One change of a text: from where on, how much is taken out, and what is put there. */
export type Splice = readonly [at: number, removed: number, text: string];

/** Long texts are compared by the block, which is much faster than by the character. */
const BLOCK = 4_096;

/** The one change that makes a text of another: all between what both begin with and what both end with. */
export function spliceBetween(before: string, after: string): Splice {
  const most = Math.min(before.length, after.length);
  let at = 0;
  while (at + BLOCK <= most && before.slice(at, at + BLOCK) === after.slice(at, at + BLOCK)) at += BLOCK;
  while (at < most && before.charCodeAt(at) === after.charCodeAt(at)) at++;
  let same = 0;
  while (
    same < most - at &&
    before.charCodeAt(before.length - 1 - same) === after.charCodeAt(after.length - 1 - same)
  ) {
    same++;
  }
  return [at, before.length - same - at, after.slice(at, after.length - same)];
}

/** A text after its changes. Each touches only what lies behind it, since most are made near the end. */
export function spliced(text: string, splices: readonly Splice[]): string {
  const pieces = [text];
  let length = text.length;
  for (const [at, removed, inserted] of splices) {
    let behind = "";
    while (length > at) {
      const piece = pieces.pop() ?? "";
      length -= piece.length;
      behind = piece + behind;
    }
    const kept = [behind.slice(0, at - length), inserted, behind.slice(at - length + removed)];
    pieces.push(...kept);
    length += kept.reduce((sum, piece) => sum + piece.length, 0);
  }
  return pieces.join("");
}
