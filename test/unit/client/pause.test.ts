import { expect, test } from "vitest";
import { untilEnded } from "../../../src/client/connection/pause.ts";

test.each(["its caller", "the client"])(
  "work that fails after %s has given up is no unhandled rejection",
  async (who) => {
    const unhandled: unknown[] = [];
    const listen = (error: unknown): void => void unhandled.push(error);
    process.on("unhandledRejection", listen);
    const given = new AbortController().signal;
    const [signal, closing] = who === "the client" ? [given, AbortSignal.abort()] : [AbortSignal.abort(), given];
    const work = new Promise<never>((_, reject) => setTimeout(() => reject(new Error("too late")), 5));
    await expect(untilEnded(work, signal, closing)).rejects.toThrow(/aborted|closed/);
    await new Promise((resolve) => setTimeout(resolve, 20));
    process.off("unhandledRejection", listen);
    expect(unhandled).toEqual([]);
  },
);
