// The patterns of JSON Schema as RE2 writes them, and what they cost it.

// What \s is in JavaScript, and all the rest: a class cannot hold a negated one.
const SPACE = "\\t-\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}";
const NO_SPACE =
  "\\x00-\\x08\\x0e-\\x1f!-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}";
const TOKEN =
  /\\u\{[0-9a-f]+\}|\\u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})|\\u[0-9a-f]{4}|\\c[a-z]|\\p\{[^}]*\}|\\.|\[\^?\]|[[\].]/gis;

/** Rewrites what JavaScript and RE2 write or mean differently; throws for a backreference, which RE2 reads as something else. */
export function toRe2(pattern: string): string {
  let inClass = false;
  return pattern.replace(TOKEN, (token: string, high?: string, low?: string) => {
    if (high !== undefined && low !== undefined)
      return `\\x{${String.fromCharCode(Number.parseInt(high, 16), Number.parseInt(low, 16)).codePointAt(0)?.toString(16)}}`;
    if (/^\\u\{/.test(token)) return `\\x${token.slice(2)}`;
    if (/^\\u./.test(token)) return `\\x{${token.slice(2)}}`;
    if (/^\\c./.test(token)) return `\\x{${(token.charCodeAt(2) % 32).toString(16)}}`;
    if (/^\\p\{/i.test(token)) return token.replace(/\{(?:script|sc|general_category|gc)=/i, "{");
    if (/^\\[1-9]/.test(token)) throw new SyntaxError("it has a backreference");
    switch (token) {
      case "\\s":
        return inClass ? SPACE : `[${SPACE}]`;
      case "\\S":
        return inClass ? NO_SPACE : `[${NO_SPACE}]`;
      case ".":
        return inClass ? token : "[^\\n\\r\\x{2028}\\x{2029}]";
      case "[":
        // Inside a class it stands for itself, where RE2 may see the beginning of [:alpha:].
        if (inClass) return "\\[";
        inClass = true;
        return token;
      case "]":
        inClass = false;
        return token;
      case "[]":
      case "[^]":
        if (!inClass) return token === "[]" ? "[^\\x00-\\x{10ffff}]" : "[\\x00-\\x{10ffff}]";
        inClass = false;
        return `\\${token}`;
      default:
        return token;
    }
  });
}

const PART = /\\p\{[^}]*\}|\\.|\[(?:\\.|[^\]\\])*\]|\{(\d+)(?:,(\d*))?\}|./gis;

/** How long RE2 takes to compile a pattern, in some 20 microseconds: it writes a repetition out as often as it counts. */
export function costOf(pattern: string): number {
  let total = 0;
  let last = 0;
  let properties = 0;
  const outer: number[] = [];
  for (const [part, least, most] of pattern.matchAll(PART)) {
    if (least !== undefined) {
      const times = Math.max(Number(least), Number(most));
      total += last * (times - 1);
      last *= times;
    } else if (part === "(") {
      outer.push(total);
      total = 0;
    } else if (part === ")") {
      last = total;
      total += outer.pop() ?? 0;
    } else {
      if (/\\p/i.test(part)) properties += 100;
      last = Math.ceil(part.length / 4);
      total += last;
    }
  }
  return outer.reduce((sum, part) => sum + part, total + properties);
}

/** True for what JavaScript itself takes for a pattern. */
export function isJavaScript(pattern: string): boolean {
  try {
    new RegExp(pattern);
    return true;
  } catch {
    return false;
  }
}
