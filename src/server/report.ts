import type { Trace, TraceEvent } from "../flow/index.ts";

export interface ReporterOptions {
  /** Each event gets its line, and authors' mistakes too. Default: whether `NODE_ENV` is `development`. */
  readonly development?: boolean;
  readonly now?: () => number;
}

const QUIET_MS = 60_000;
/** Names that peers made up: so many are remembered as told. */
const MOST_NAMES = 100;

/**
 * What a server does without a trace: faults and warnings go to `console.error`, and so does a line of what peers met and
 * only the operator can mend, at most one a minute and kind.
 */
export function createReporter(options: ReporterOptions = {}): Trace {
  const { development = globalThis.process?.env?.NODE_ENV === "development", now = Date.now } = options;
  const toldAt = new Map<string, number>();
  const names = new Set<string>();

  const mayTell = ({ kind, name }: Line): boolean => {
    if (development) return true;
    if (name !== undefined && names.has(name)) return false;
    if (now() - (toldAt.get(kind) ?? Number.NEGATIVE_INFINITY) < QUIET_MS) return false;
    toldAt.set(kind, now());
    if (name !== undefined) {
      if (names.size >= MOST_NAMES) names.clear();
      names.add(name);
    }
    return true;
  };

  return (event) => {
    if (event.type === "fault") {
      const reference = event.reference === undefined ? "" : ` (reference ${event.reference})`;
      console.error(`[volley] fault in ${plain(event.target)}${reference}:`, event.error);
    } else if (event.type === "warning") console.error(`[volley] ${event.target}: ${event.message}`);
    else {
      const line = lineOf(event);
      if (line !== undefined && (development || !line.author) && mayTell(line)) console.error(`[volley] ${line.text}`);
    }
  };
}

interface Line {
  readonly kind: string;
  readonly text: string;
  /** Told once. */
  readonly name?: string;
  /** The author's to mend, in development. */
  readonly author?: boolean;
}

function lineOf(event: TraceEvent): Line | undefined {
  switch (event.type) {
    case "state_refused": {
      const { reason, target, kid, kids } = event;
      const why = reason === "kid" ? unknownKey(kid, kids) : (REFUSED[reason] ?? reason);
      return { kind: `${event.type} ${reason}`, text: `${plain(target)}: a state was refused: ${why}` };
    }
    case "client_refused":
      return {
        kind: event.type,
        text: `a client of ${plain(event.requested) || "an older revision"} was turned away: createLegacyServer of volley-mcp/bridge serves it.`,
      };
    case "name_refused": {
      const { header, name } = event;
      const text =
        header === "host"
          ? `a request to the host "${plain(name)}" was refused: if this server is called so, name it in \`allowedHosts\`.`
          : `a page of "${plain(name)}" was refused: if it may call this server, name it in \`allowedOrigins\`.`;
      return { kind: `${event.type} ${header}`, name: `${header} ${name}`, text };
    }
    case "asked_often":
      return {
        kind: event.type,
        text: `${event.target}: "${plain(event.key)}" was asked ${event.times} times in one flow: no answer was of use.`,
      };
    case "name_changed":
      return {
        kind: event.type,
        text: `${event.target}: ${event.names.map(({ type, name }) => CHANGED[type](plain(name))).join("; ")}: names must be the same in each round.`,
        author: true,
      };
    default:
      return undefined;
  }
}

const CHANGED = {
  ask: (name: string) => `"${name}" was answered and is not asked any more`,
  step: (name: string) => `step "${name}" was done and is not called any more`,
};

function unknownKey(kid: string | undefined, kids: readonly string[] = []): string {
  return (
    `it was sealed by key ${kid ?? "unknown"}, and this server has ${kids.join(", ")}. ` +
    "Do all instances have the same VOLLEY_KEYS?"
  );
}

const REFUSED: Readonly<Record<string, string>> = {
  authentication:
    "its key is this server's, but it was altered, or sealed for another caller, tool, arguments or service. Do all " +
    "instances have the same `audience`, and do callers come back as who they were?",
  expired: "it has expired: the answers took longer than `ttlMs`.",
  deadline: "its flow is over: it took longer than `flowMs`.",
  future: "it was issued more than two minutes from now. Do the clocks of all instances agree?",
  body: "it was sealed by another version of this package.",
  format: "it is none that a server of this package sealed.",
  too_large: "it is larger than `maxStateBytes`.",
  version: 'its handler is older than this one, which says `whenOlder: "refuse"`.',
  used: "it was used before with other answers, and `singleUse` takes one set.",
};

/** What a peer sent, as part of one line. */
function plain(text: string): string {
  return text.slice(0, 128).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "?");
}
