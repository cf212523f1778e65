import type { Chart } from "./lib/report.ts";
import { short } from "./lib/report.ts";

const WIDTH = 680;
const HEIGHT = 380;
const LEFT = 70;
const RIGHT = 150;
const TOP = 44;
const BOTTOM = 52;
const COLOURS = ["#2563eb", "#d97706", "#059669", "#9333ea"];

/** Positions of values along one axis, and the values that are marked on it. */
interface Axis {
  readonly at: (value: number) => number;
  readonly ticks: readonly number[];
}

/** Draws a line chart as SVG that reads on light and dark pages. */
export function drawChart(chart: Chart): string {
  const points = chart.lines.flatMap((line) => line.points);
  const x = axis(
    points.map(([value]) => value),
    LEFT,
    WIDTH - RIGHT,
  );
  const y = linear(0, Math.max(...points.map(([, value]) => value), Number.MIN_VALUE), HEIGHT - BOTTOM, TOP);
  const labels = spreadOut(chart.lines.map((line) => y.at(line.points.at(-1)?.[1] ?? 0)));
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escapeXml(chart.title)}" font-family="system-ui, sans-serif" font-size="12">
<style>text{fill:#1f2937}.grid{stroke:#d1d5db}@media(prefers-color-scheme:dark){text{fill:#e5e7eb}.grid{stroke:#4b5563}}</style>
<text x="${LEFT}" y="22" font-size="15" font-weight="600">${escapeXml(chart.title)}</text>
${y.ticks.map((tick) => horizontal(y.at(tick), tick)).join("\n")}
${x.ticks.map((tick) => vertical(x.at(tick), tick)).join("\n")}
<text x="${(LEFT + WIDTH - RIGHT) / 2}" y="${HEIGHT - 12}" text-anchor="middle">${escapeXml(chart.x)}</text>
<text transform="translate(16 ${(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)" text-anchor="middle">${escapeXml(chart.y)}</text>
${chart.lines.map((line, index) => drawLine(line, index, x, y, labels[index] ?? 0)).join("\n")}
</svg>
`;
}

function drawLine(line: Chart["lines"][number], index: number, x: Axis, y: Axis, labelY: number): string {
  const colour = COLOURS[index % COLOURS.length] ?? "#000";
  const places = line.points.map(([px, py]) => `${fixed(x.at(px))},${fixed(y.at(py))}`);
  const dots = places.map((place) => {
    const [cx, cy] = place.split(",");
    return `<circle cx="${cx}" cy="${cy}" r="3" fill="${colour}"/>`;
  });
  return `<polyline points="${places.join(" ")}" fill="none" stroke="${colour}" stroke-width="2"/>${dots.join("")}
<text x="${WIDTH - RIGHT + 10}" y="${fixed(labelY + 4)}" style="fill:${colour}">${escapeXml(line.name)}</text>`;
}

function horizontal(y: number, value: number): string {
  return `<line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${fixed(y)}" y2="${fixed(y)}"/><text x="${LEFT - 8}" y="${fixed(y + 4)}" text-anchor="end">${tickText(value)}</text>`;
}

function vertical(x: number, value: number): string {
  return `<line class="grid" x1="${fixed(x)}" x2="${fixed(x)}" y1="${HEIGHT - BOTTOM}" y2="${HEIGHT - BOTTOM + 5}"/><text x="${fixed(x)}" y="${HEIGHT - BOTTOM + 20}" text-anchor="middle">${tickText(value)}</text>`;
}

/** Logarithmic where the values span several powers of ten and none is 0, else linear. */
function axis(values: readonly number[], from: number, to: number): Axis {
  const least = Math.min(...values);
  const most = Math.max(...values);
  if (least <= 0 || most / least < 500) return linear(Math.min(0, least), most, from, to);
  const scale = (to - from) / Math.log10(most / least);
  return { at: (value) => from + Math.log10(value / least) * scale, ticks: [...new Set(values)] };
}

function linear(least: number, most: number, from: number, to: number): Axis {
  const step = niceStep((most - least) / 5);
  const end = Math.ceil(most / step) * step;
  const ticks: number[] = [];
  for (let tick = least; tick <= end + step / 2; tick += step) ticks.push(tick);
  return { at: (value) => from + ((value - least) / (end - least)) * (to - from), ticks };
}

/** The next of 1, 2 and 5 times a power of ten. */
function niceStep(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(rough));
  return ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power;
}

/** Moves labels up until none covers another. */
function spreadOut(places: readonly number[]): readonly number[] {
  const order = places.map((place, index) => ({ place, index })).sort((a, b) => b.place - a.place);
  const result: number[] = [];
  let free = Number.POSITIVE_INFINITY;
  for (const { place, index } of order) {
    const at = Math.min(place, free);
    result[index] = at;
    free = at - 15;
  }
  return result;
}

function tickText(value: number): string {
  return value >= 1_000 ? value.toLocaleString("en") : String(Number(short(value)));
}

function fixed(value: number): string {
  return value.toFixed(1);
}

function escapeXml(text: string): string {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/"/g, "&quot;");
}
