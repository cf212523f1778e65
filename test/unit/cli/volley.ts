import type { Shell } from "../../../src/cli/command.ts";
import { run } from "../../../src/cli/run.ts";

/** Runs `volley` with these arguments and tells what came of it. */
export function volley(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  return volleyIn({}, ...args);
}

export async function volleyIn(
  { env = {}, input = "" }: { readonly env?: Shell["env"]; readonly input?: string },
  ...args: string[]
): Promise<{ code: number; out: string; err: string }> {
  const result = { code: 0, out: "", err: "" };
  async function* lines(): AsyncGenerator<string> {
    yield* input.split("\n");
  }
  result.code = await run(args, {
    out: { write: (text) => (result.out += text) },
    err: { write: (text) => (result.err += text) },
    env,
    lines,
  });
  return result;
}
