// Makes one call to each address and prints what came of it; `proxy.test.ts` starts it with an environment of its own.
import { type ConnectOptions, connect } from "../../../src/client.ts";

async function call(url: string, options: ConnectOptions): Promise<unknown> {
  const client = await connect(url, options);
  try {
    return await client.callTool("work", { text: "é" });
  } catch (error) {
    return `${error}`;
  } finally {
    await client.close();
  }
}

const [transport, ...urls] = process.argv.slice(2);
const options: ConnectOptions = transport === "fetch" ? { fetch: (url, init) => fetch(url, init) } : {};
const outcomes: unknown[] = [];
for (const url of urls) outcomes.push(await call(url, options));
process.stdout.write(JSON.stringify(outcomes));
