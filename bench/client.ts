import { SERVERS, SUBJECT, startServer } from "./contestants.ts";
import { type Contestant, LOAD_CPU, startContestant } from "./lib/process.ts";
import { atMost, type Check, type Report, type Settings, short, showRatio, takesPart } from "./lib/report.ts";
import { alternate, ratio, type Sample, spread } from "./lib/stats.ts";
import { WARM_UP_SECONDS, warmUp } from "./lib/warm.ts";

const CLIENTS = ["volley", "official", "fetch", "node-http"];
/** One client makes one call at a time, so that a sample holds few: it is so many times longer than one of a loaded server. */
const SAMPLE = 2.5;
const WANTED: readonly (readonly [string, number])[] = [
  ["official", 0.25],
  ["fetch", 0.4],
];

/** CPU time of a client for a whole call of two legs against the floor server, one call after the other. */
export async function client(settings: Settings): Promise<Report> {
  const names = CLIENTS.filter((name) => takesPart(settings, name));
  const floor = SERVERS.find(({ name }) => name === "floor");
  if (floor === undefined) throw new Error("the floor server is not listed");
  const server = await startServer(floor, { tools: 3 });
  const processes: Contestant[] = [];
  try {
    for (const name of names) {
      processes.push(await startContestant("clients/process.ts", { client: name, url: server.url }, LOAD_CPU));
    }
    settings.progress("client");
    const measure = (ms: number) => (contestant: Contestant) => contestant.ask({ ms }) as Promise<Sample>;
    for (const contestant of processes) await warmUp(() => measure(WARM_UP_SECONDS * 1000)(contestant));
    const series = await alternate(processes, settings.pairs, measure(settings.seconds * SAMPLE * 1000));
    const clients = Object.fromEntries(names.map((name, index) => [name, series[index] ?? []]));
    const mine = clients[SUBJECT];
    const base = mine === undefined ? (names[0] ?? "") : SUBJECT;
    return {
      tables: [
        {
          title: "a two-leg call against the floor server",
          columns: ["client", `CPU time: ${base} / it`, "CPU us a call"],
          rows: names.map((name) => [
            name,
            name === base ? "1" : showRatio(ratio(costs(clients[base]), costs(clients[name]))),
            short(spread(costs(clients[name])).median),
          ]),
        },
      ],
      charts: [],
      checks: mine === undefined ? [] : WANTED.flatMap(([other, most]) => check(mine, clients[other], other, most)),
      data: clients,
    };
  } finally {
    for (const contestant of [server.process, ...processes]) await contestant.stop();
  }
}

function costs(samples: readonly Sample[] = []): readonly number[] {
  return samples.map(({ cpu }) => cpu);
}

function check(mine: readonly Sample[], theirs: readonly Sample[] | undefined, other: string, most: number): Check[] {
  if (theirs === undefined) return [];
  return [atMost(`client, CPU time of a two-leg call / ${other}'s`, most, ratio(costs(mine), costs(theirs)).median)];
}
