
import { playSchedule } from "./schedule.ts";
import { KNOWN_AT_BASE } from "./known.ts";
import { PLANTED } from "./planted/index.ts";
const [max = 2000, base = 1, only = ""] = process.argv.slice(2);
for (const planted of PLANTED.filter((p) => p.name.includes(only))) {
  let found = ""; let n = 0;
  const t = process.cpuUsage().user;
  for (; n < Number(max) && found === ""; n++) {
    try {
    const p = await playSchedule(Number(base) + n, { known: KNOWN_AT_BASE, planted });
    found = p.violations[0] ?? "";
    } catch (e) { found = "THROWN " + (e as Error).stack; }
  }
  console.log(found === "" ? "NOT FOUND" : n, planted.name, "|", found.slice(0, 150), ((process.cpuUsage().user - t) / 1e6).toFixed(1));
}
