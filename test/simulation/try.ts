import { playSchedule } from "./schedule.ts";
import { KNOWN_AT_BASE } from "./known.ts";
const [from = 1, count = 100, only] = process.argv.slice(2);
let bad = 0; const t = performance.now(); let events = 0;
const kinds = new Map<string, number[]>();
for (let s = Number(from); s < Number(from) + Number(count); s++) {
  const p = await playSchedule(s, { known: KNOWN_AT_BASE, ...(only ? { shapes: only.split(",") } : {}) });
  events += p.events;
  for (const v of p.violations) { const k = p.shapes.join("+") + " | " + v.replace(/[0-9.]+/g, "#").slice(0,200); kinds.set(k, [...(kinds.get(k) ?? []), s]); }
  if (p.violations.length) bad++;
  if (Number(count) === 1) { for (const l of p.lines) console.log(l.at.toFixed(1), l.who, l.what); console.log(p.mishaps, p.shapes); }
}
const s = (process.cpuUsage().user+process.cpuUsage().system) / 1e6;
for (const [k, v] of [...kinds].sort((a, b) => b[1].length - a[1].length).slice(0, 40)) console.log(v.length, v.slice(0, 4).join(","), k);
console.log(`${bad} bad; ${(Number(count) / s).toFixed(0)} schedules/s, ${(events / Number(count)).toFixed(0)} events each`);
