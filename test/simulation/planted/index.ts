// The faults that the simulation must find.
import type { Planted } from "../planted.ts";
import { LEDGERS } from "./ledgers.ts";
import { REST } from "./rest.ts";
import { TASKS } from "./tasks.ts";

export const PLANTED: readonly Planted[] = [...LEDGERS, ...TASKS, ...REST];
