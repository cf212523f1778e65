/** The process that measures one codec: it answers `{ bytes, ms }` with how many round trips it made and at what cost. */
import { deepStrictEqual } from "node:assert";
import type { Codec, Sized } from "./codec.ts";

const { codec: name } = JSON.parse(process.argv[2] ?? "{}") as { codec: string };
const { codec } = (await import(`./${name}.ts`)) as { codec: Codec & Sized };

/** What is asked of a codec process. */
export interface CodecTask {
  /** Size of the body as JSON. */
  readonly bytes: number;
  readonly ms: number;
}

/** What it answers. */
export interface CodecResult {
  readonly rate: number;
  readonly cpu: number;
  readonly sealedLength: number;
}

/** Codecs that answer by promise are given several bodies at a time, as a busy server would. */
const AT_ONCE = 16;

process.on("message", (task: CodecTask) => void run(task).then((result) => process.send?.(result)));
process.on("disconnect", () => process.exit());
process.send?.({ ready: true });

async function run({ bytes, ms }: CodecTask): Promise<CodecResult> {
  const body = journal(bytes);
  deepStrictEqual(await codec.roundTrip(body), body);
  const cpu = process.cpuUsage();
  const begin = performance.now();
  let count = 0;
  while (performance.now() - begin < ms) {
    const waiting = Array.from({ length: AT_ONCE }, () => codec.roundTrip(body));
    if (waiting[0] instanceof Promise) await Promise.all(waiting);
    count += AT_ONCE;
  }
  const seconds = (performance.now() - begin) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  deepStrictEqual(await codec.roundTrip(body), body);
  return { rate: count / seconds, cpu: (user + system) / count, sealedLength: await codec.sealedLength(body) };
}

/** A body like those of real flows, of about so many bytes. */
function journal(bytes: number): unknown {
  const answers: Record<string, unknown> = {};
  const body = { flow: "0f3c8a52-7c1e-4d6b-9a0e-5b8f2d1c6e47", round: 3, answers };
  for (let i = 0; JSON.stringify(body).length < bytes; i += 1) {
    answers[`answer-${i}`] = { action: "accept", content: { resolution: "Duplicate", note: `See #${4301 + i}.` } };
  }
  return body;
}
