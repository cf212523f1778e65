import { spawn } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Contestant, LOAD_CPU } from "./process.ts";
import type { Sample } from "./stats.ts";

/** One HTTP request that the load sends, ready to go. */
export interface Shot {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What one run of load did. */
export interface LoadResult extends Sample {
  readonly requests: number;
  /** Mean size of a response with its headers: another size than before the run means other answers. */
  readonly responseBytes: number;
  readonly p99Micros: number;
}

/** A file of requests for wrk, sent one after the other and then again from the first. */
export interface Load {
  /**
   * Runs for some seconds, or until `requests` were sent.
   *
   * @throws when any response was an HTTP error or any connection failed
   */
  run(
    contestant: Contestant,
    url: string,
    connections: number,
    limit: { readonly seconds: number } | { readonly requests: number },
  ): Promise<LoadResult>;
  remove(): void;
}

let files = 0;

/**
 * Writes the requests into a file for wrk.
 *
 * @param pauseMs how long a connection rests before each request, on average; without a pause it sends as soon as it may
 */
export function createLoad(shots: readonly Shot[], pauseMs = 0): Load {
  files += 1;
  const file = join(tmpdir(), `volley-bench-${process.pid}-${files}.lua`);
  writeFileSync(file, luaScript(shots, pauseMs));
  return {
    async run(contestant, url, connections, limit): Promise<LoadResult> {
      const cpuBefore = contestant.cpuMicros();
      const done = await wrk(file, url, connections, limit);
      const cpu = contestant.cpuMicros() - cpuBefore;
      if (done.failures > 0) throw new Error(`${done.failures} of ${done.requests} requests to ${url} failed`);
      if (done.requests === 0) throw new Error(`no response from ${url} in time`);
      return {
        requests: done.requests,
        rate: (done.requests / done.micros) * 1e6,
        cpu: cpu / done.requests,
        responseBytes: done.bytes / done.requests,
        p99Micros: done.p99,
      };
    },
    remove: () => rmSync(file, { force: true }),
  };
}

interface Done {
  readonly requests: number;
  readonly micros: number;
  readonly bytes: number;
  readonly failures: number;
  readonly p99: number;
}

async function wrk(
  file: string,
  url: string,
  connections: number,
  limit: { readonly seconds: number } | { readonly requests: number },
): Promise<Done> {
  const count = "requests" in limit ? limit.requests : 0;
  const child = spawn(
    "taskset",
    [
      "-c",
      String(LOAD_CPU),
      "wrk",
      "-t1",
      `-c${connections}`,
      "-d600s",
      "--timeout",
      "30s",
      "-s",
      file,
      url,
      "--",
      String(count),
    ],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    output += chunk;
    // wrk's own -d has a resolution of a second, so it is stopped by hand: on SIGINT it counts and reports as usual.
    if (chunk.includes(STARTED) && "seconds" in limit) setTimeout(() => child.kill("SIGINT"), limit.seconds * 1000);
    if (chunk.includes(STOPPED)) child.kill("SIGINT");
  });
  await new Promise<void>((resolve, reject) => {
    child.once("error", reject).once("close", () => resolve());
  });
  const report = output.split("\n").find((text) => text.startsWith("{"));
  if (report === undefined) throw new Error(`wrk gave no report:\n${output}`);
  return JSON.parse(report) as Done;
}

/** What the script prints when it starts to send, and when it has the responses that it was told to count. */
const STARTED = "volley-bench: started";
const STOPPED = "volley-bench: stopped";

function luaScript(shots: readonly Shot[], pauseMs: number): string {
  const written = shots.map(({ headers, body }) => {
    const table = Object.entries(headers).map(([name, value]) => `[${quote(name)}]=${quote(value)}`);
    return `add({${table.join(",")}}, ${quote(body)})`;
  });
  // A response function makes wrk parse what comes back, which costs: it is there only when responses are counted.
  return `
local shots, at = {}, 0
local function add(headers, body) shots[#shots + 1] = wrk.format("POST", nil, headers, body) end

function init(args)
  ${written.join("\n  ")}
  local left = tonumber(args[1])
  if left > 0 then
    response = function()
      left = left - 1
      if left == 0 then
        print("${STOPPED}")
        io.flush()
        wrk.thread:stop()
      end
    end
  end
  print("${STARTED}")
  io.flush()
end

function request()
  at = at + 1
  if at > #shots then at = 1 end
  return shots[at]
end

${pauseMs > 0 ? `function delay() return math.random(1, ${2 * pauseMs - 1}) end` : ""}

function done(summary, latency)
  local e = summary.errors
  io.write(string.format('\\n{"requests":%d,"micros":%d,"bytes":%d,"failures":%d,"p99":%d}\\n', summary.requests,
    summary.duration, summary.bytes, e.connect + e.read + e.write + e.status + e.timeout, latency:percentile(99)))
end
`;
}

/** A Lua string literal of any text. */
function quote(text: string): string {
  return `"${text.replace(/[\\"]/g, "\\$&").replace(/\n/g, "\\n").replace(/\r/g, "\\r").replace(/\0/g, "\\0")}"`;
}
