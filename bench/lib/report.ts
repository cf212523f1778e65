import type { Spread } from "./stats.ts";

/** A table as it is printed and as it stands in docs/performance.md. */
export interface Table {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** A line chart: what plot.ts draws. */
export interface Chart {
  /** Names the SVG file. */
  readonly name: string;
  readonly title: string;
  readonly x: string;
  readonly y: string;
  readonly lines: readonly { readonly name: string; readonly points: readonly (readonly [number, number])[] }[];
}

/** A figure that this project has promised itself, and what came out. */
export interface Check {
  readonly figure: string;
  readonly wanted: string;
  readonly measured: string;
  readonly reached: boolean;
}

/** What a benchmark hands back; `data` holds every sample, so that others can compute their own ratios. */
export interface Report {
  readonly tables: readonly Table[];
  readonly charts: readonly Chart[];
  readonly checks: readonly Check[];
  readonly data: unknown;
}

/** How long and among whom a benchmark runs. */
export interface Settings {
  /** Fewer cases and shorter runs, for development. */
  readonly quick: boolean;
  /** How many times each contestant is measured, in turn. */
  readonly pairs: number;
  /** Length of one measurement in seconds. */
  readonly seconds: number;
  /** Names of the contestants that take part; undefined: all. */
  readonly only: ReadonlySet<string> | undefined;
  /** Says what is being done. */
  readonly progress: (text: string) => void;
}

export function takesPart(settings: Settings, name: string): boolean {
  return settings.only === undefined || settings.only.has(name);
}

/** "3.52 (3.40 .. 3.61)" */
export function showRatio({ median, min, max }: Spread): string {
  return `${short(median)} (${short(min)} .. ${short(max)})`;
}

/** Three significant digits, without an exponent. */
export function short(value: number): string {
  if (!Number.isFinite(value)) return "-";
  const size = Math.abs(value);
  if (size >= 100) return String(Math.round(value));
  return value.toFixed(size >= 10 ? 1 : 2);
}

export function atLeast(figure: string, wanted: number, measured: number): Check {
  return { figure, wanted: `at least ${wanted}`, measured: short(measured), reached: measured >= wanted };
}

export function atMost(figure: string, wanted: number, measured: number, unit = ""): Check {
  return {
    figure,
    wanted: `at most ${wanted}${unit}`,
    measured: `${short(measured)}${unit}`,
    reached: measured <= wanted,
  };
}

export function printTable(table: Table): string {
  const all = [table.columns, ...table.rows];
  const widths = table.columns.map((_, column) => Math.max(...all.map((row) => (row[column] ?? "").length)));
  const print = (row: readonly string[]): string =>
    row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join("  ");
  return [table.title, print(table.columns), ...table.rows.map(print)].join("\n");
}

export function markdownTable({ columns, rows }: Pick<Table, "columns" | "rows">): string {
  const print = (row: readonly string[]): string => `| ${row.join(" | ")} |`;
  return [print(columns), print(columns.map((_, i) => (i === 0 ? "---" : "---:"))), ...rows.map(print)].join("\n");
}
