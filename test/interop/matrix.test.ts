/** Everything that two sides can do with each other, for every pair: `npm run interop:matrix` prints the table. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ClientName, clients, join, type ServerName, servers, type TransportName } from "./pairs.ts";
import type { Peer } from "./peer.ts";
import { probes } from "./probes.ts";

/** Cells that a peer cannot pass, by `client, server, transport, probe`, with the reason. Each must really fail. */
const CANNOT = new Map<string, string>();

const columns = Object.keys(probes);
const rows = (Object.keys(clients) as ClientName[]).flatMap((client) =>
  (Object.keys(servers) as ServerName[]).flatMap((server) =>
    (["http", "stdio"] as TransportName[]).map((transport) => ({ client, server, transport })),
  ),
);
const cells = new Map<string, string>();

describe.each(rows)("$client, $server, $transport", ({ client, server, transport }) => {
  const row = `${client}, ${server}, ${transport}`;
  let peer: Peer;
  beforeAll(async () => {
    peer = await join(client, server, transport);
  }, 30_000);
  afterAll(() => peer?.close());

  test.each(columns)("%s", async (column) => {
    const cell = `${row}, ${column}`;
    const reason = CANNOT.get(cell);
    cells.set(cell, "FAIL");
    const outcome = await probes[column]!(peer).then(
      () => undefined,
      (error: unknown) => error ?? new Error("rejected with nothing"),
    );
    if (reason === undefined && outcome !== undefined) throw outcome;
    if (reason !== undefined) expect(outcome, `This passes now; take its reason out: ${reason}`).toBeDefined();
    cells.set(cell, reason === undefined ? "ok" : "cannot");
  });
});

afterAll(() => {
  const width = Math.max(...rows.map(({ client, server, transport }) => `${client}, ${server}, ${transport}`.length));
  const lines = rows.map(({ client, server, transport }) => {
    const row = `${client}, ${server}, ${transport}`;
    const marks = columns.map((column) => (cells.get(`${row}, ${column}`) ?? "not run").padEnd(column.length));
    return `${row.padEnd(width)}  ${marks.join("  ")}`;
  });
  const reasons = [...CANNOT].map(([cell, reason]) => `${cell}: ${reason}`);
  process.stdout.write(`\n${[`${" ".repeat(width)}  ${columns.join("  ")}`, ...lines, ...reasons].join("\n")}\n`);
});
