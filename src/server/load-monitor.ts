import { monitorEventLoopDelay } from "node:perf_hooks";
import type { LoadMonitor } from "../flow/index.ts";
import { checkOptions, type OptionNames } from "../protocol/index.ts";

/** A {@link LoadMonitor} that measures how late the event loop is. */
export interface EventLoopMonitor extends LoadMonitor {
  /** The mean delay of the last sample, in milliseconds. */
  readonly delayMs: number;
  /** Ends the measuring. */
  close(): void;
}

export interface LoadMonitorOptions {
  /** The mean delay from which the process counts as overloaded, in milliseconds. Default 100. */
  readonly maxDelayMs?: number;
  /** How long a sample is, in milliseconds. Default 500. */
  readonly sampleMs?: number;
}

const RESOLUTION_MS = 10;

const OPTIONS: OptionNames<LoadMonitorOptions> = { maxDelayMs: true, sampleMs: true };

/**
 * Makes the monitor for the option `shedding` of `createServer`: while the event loop is late, flows that have new steps
 * to carry hand themselves back, at most twice each, and go on wherever their next round arrives.
 *
 * It keeps no process alive.
 *
 * @example
 * ```ts
 * import { createLoadMonitor } from "volley-mcp/node";
 * const shedding = createLoadMonitor({ maxDelayMs: 80 });
 * const server = createServer({ name: "shop", version: "1.0.0", audience: "https://shop.example/mcp", shedding });
 * ```
 */
export function createLoadMonitor(options: LoadMonitorOptions = {}): EventLoopMonitor {
  checkOptions("createLoadMonitor", options, OPTIONS);
  const { maxDelayMs = 100, sampleMs = 500 } = options;
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  histogram.enable();
  let delayMs = 0;
  const timer = setInterval(() => {
    // Each value is the whole time from one look to the next. Without any, the loop has only just come back.
    if (histogram.count > 0) delayMs = Math.max(0, histogram.mean / 1e6 - RESOLUTION_MS);
    histogram.reset();
  }, sampleMs);
  timer.unref();
  return {
    overloaded: () => delayMs > maxDelayMs,
    get delayMs() {
      return delayMs;
    },
    close() {
      clearInterval(timer);
      histogram.disable();
    },
  };
}
