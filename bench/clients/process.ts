/** The process that one client runs in: it answers `{ ms }` with how many two-leg calls it made and at what cost. */
import type { Sample } from "../lib/stats.ts";
import type { Connect } from "./client.ts";

const { client: name, url } = JSON.parse(process.argv[2] ?? "{}") as { client: string; url: string };
const { connect } = (await import(`./${name}.ts`)) as { connect: Connect };
const client = await connect(url);

let id = 4300;

process.on("message", ({ ms }: { ms: number }) => void run(ms).then((sample) => process.send?.(sample)));
process.on("disconnect", () => process.exit());
process.send?.({ ready: true });

async function run(ms: number): Promise<Sample> {
  const cpu = process.cpuUsage();
  const begin = performance.now();
  let calls = 0;
  while (performance.now() - begin < ms) {
    id += 1;
    const text = await client.call(id);
    if (text !== `#${id} closed as Duplicate.`) throw new Error(`${name} got "${text}" for #${id}`);
    calls += 1;
  }
  const { user, system } = process.cpuUsage(cpu);
  return { rate: (calls / (performance.now() - begin)) * 1000, cpu: (user + system) / calls };
}
