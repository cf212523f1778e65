// The shapes of handlers that are played.
import type { ToolOptions } from "../../src/server/index.ts";
import type { Run } from "./play-handler.ts";

export interface Shape {
  readonly name: string;
  readonly options?: ToolOptions;
  /** It goes on as a task. */
  readonly task?: true;
  /** Each of its effects can be looked for: none may stay in doubt. */
  readonly recovers?: true;
  /** A question may come again although it was answered. */
  readonly asksAgain?: true;
  /** Its effects take long more often than not. */
  readonly slow?: true;
  /** A fault of the library that it finds; see known.ts. */
  readonly finds?: string;
  readonly play: (run: Run, version: number) => Promise<unknown>;
}

const MINUTE = 60_000;
/** Short lives, so that latecomers meet their end. */
const SHORT = { ttlMs: MINUTE, flowMs: 1.5 * MINUTE, roundTimeoutMs: 10_000 } as const;
const USUAL = { ttlMs: MINUTE, flowMs: 5 * MINUTE, roundTimeoutMs: 20_000 } as const;

const rounds: readonly Shape[] = [
  {
    name: "steps",
    async play(run) {
      await run.step("load");
      await run.ask("x");
      await run.step("check");
      await run.once("pay");
    },
  },
  {
    name: "once",
    options: SHORT,
    async play(run) {
      await run.ask("amount");
      await run.once("pay");
      await run.ask("note");
      await run.once("mail");
    },
  },
  {
    // Over by the stores' clock before a slow server thinks so.
    name: "short-lived",
    options: { ttlMs: MINUTE / 2, flowMs: MINUTE / 2 },
    async play(run) {
      await run.ask("amount");
      await run.once("pay");
    },
  },
  {
    name: "slow-effect",
    options: { ttlMs: 3 * MINUTE },
    recovers: true,
    slow: true,
    async play(run) {
      await run.ask("amount");
      await run.once("pay", { recovers: true });
    },
  },
  {
    name: "once-first",
    options: SHORT,
    async play(run) {
      await run.once("open");
      await run.ask("x");
      await run.once("close");
    },
  },
  {
    name: "keyed",
    async play(run) {
      await run.once("pay", { key: run.order });
      await run.ask("note");
      await run.once("mail", { recovers: true });
    },
  },
  {
    name: "recover",
    recovers: true,
    async play(run) {
      await run.ask("amount");
      await run.once("pay", { recovers: true });
      await run.ask("note");
      await run.once("mail", { recovers: true });
    },
  },
  {
    name: "recover-again",
    recovers: true,
    async play(run) {
      await run.ask("amount");
      await run.step("price");
      await run.once("pay", { recovers: true });
    },
  },
  {
    name: "confirm",
    recovers: true,
    async play(run) {
      await run.ask("amount");
      if (await run.confirm("sure")) await run.once("pay", { recovers: true });
    },
  },
  {
    name: "race-of-questions",
    async play(run) {
      const winner = await run.race("first", { p: run.ask("p"), q: run.ask("q") });
      await run.once(`by-${winner}`);
      await run.ask("z");
      await run.once("end");
    },
  },
  {
    name: "race-of-steps",
    async play(run) {
      const winner = await run.race("first", { a: run.step("a"), b: run.step("b") });
      await run.step(`by-${winner}`);
      await run.ask("z");
      await run.once(`end-${winner}`);
    },
  },
  {
    name: "race-of-question-and-step",
    async play(run) {
      const winner = await run.race("first", { q: run.ask("q"), s: run.step("s").then(() => run.step("t")) });
      await run.once(`by-${winner}`);
      await run.ask("z");
    },
  },
  {
    name: "all",
    recovers: true,
    async play(run) {
      await Promise.all([run.ask("a"), run.ask("b"), run.step("c"), run.step("d").then(() => run.step("e"))]);
      await Promise.all([run.once("pay", { recovers: true }), run.once("mail", { recovers: true })]);
    },
  },
  {
    name: "shedding",
    async play(run) {
      await run.step("a");
      await run.ctx.yield();
      await run.step("b");
      await run.step("c");
      await run.ask("x");
      await run.step("d");
      await run.once("pay");
    },
  },
  {
    name: "sleep",
    async play(run) {
      await run.step("a");
      await run.ctx.sleep("pause", 1_500);
      await run.ask("x");
      await run.once("pay");
    },
  },
  {
    name: "single-use",
    options: { singleUse: true },
    async play(run) {
      await run.ask("a");
      await run.ask("b");
    },
  },
  {
    name: "versions",
    async play(run, version) {
      await run.ask("a");
      if (version > 1) await run.ask("more");
      await run.once("pay");
      await run.ask("b");
    },
  },
  {
    name: "restart",
    options: { whenOlder: "restart" },
    asksAgain: true,
    finds: "H5",
    async play(run) {
      await run.ask("a");
      await run.once("pay");
      await run.ask("b");
    },
  },
  {
    name: "use",
    async play(run) {
      const { stage } = run;
      const acquire = async (): Promise<string> => {
        const name = await stage.io("acquire");
        stage.held += 1;
        return name;
      };
      await run.ctx.use(acquire, () => {
        stage.held -= 1;
      });
      await run.step("a");
      await run.ask("x");
      await run.once("pay");
    },
  },
  {
    name: "race-of-question-and-sleep",
    finds: "H1",
    async play(run) {
      const winner = await run.race("first", { q: run.ask("q"), late: run.ctx.sleep("limit", 12_000) });
      await run.once(`by-${winner}`);
      await run.ask("z");
    },
  },
  {
    name: "race-in-one-turn",
    finds: "H9",
    async play(run) {
      const batch = run.stage.io("batch");
      batch.catch(() => undefined); // Nobody waits for it where the steps are replayed.
      const load = (name: string): Promise<string> => run.ctx.step(name, () => batch);
      const helper = async (): Promise<string> => {
        const value = await load("a");
        return await Promise.resolve(value);
      };
      const winner = await run.race("first", { a: helper(), c: load("c") });
      await run.step(`by-${winner}`);
      await run.ask("z");
    },
  },
];

const tasks: readonly Shape[] = [
  {
    name: "to-task",
    recovers: true,
    async play(run) {
      await run.ask("x");
      await run.ctx.toTask();
      await run.step("a");
      await run.ask("y");
      await run.once("pay", { recovers: true });
    },
  },
  {
    name: "task-of-steps",
    options: { task: "required" },
    async play(run) {
      await run.step("a");
      await run.step("b");
      await run.once("pay");
      await run.step("c");
      await run.once("mail", { recovers: true });
    },
  },
  {
    name: "task-of-questions",
    options: { task: "required" },
    recovers: true,
    async play(run) {
      await run.step("a");
      await run.ask("x");
      await run.ctx.sleep("pause", 4_000);
      await run.ask("y");
      await run.step("b");
    },
  },
  {
    name: "task-of-all",
    options: { task: "required" },
    recovers: true,
    async play(run) {
      await Promise.all([run.ask("a"), run.ask("b"), run.step("c").then(() => run.step("d"))]);
      const winner = await run.race("second", { e: run.step("e"), f: run.step("f") });
      await run.ask(`z-${winner}`);
    },
  },
  {
    name: "task-race-of-question-and-sleep",
    options: { task: "required" },
    finds: "H1",
    async play(run) {
      const winner = await run.race("first", { q: run.ask("q"), late: run.ctx.sleep("limit", 6_000) });
      await run.once(`by-${winner}`, { recovers: true });
      await run.ask("z");
    },
  },
];

export const SHAPES: readonly Shape[] = [
  ...rounds.map((shape) => ({ ...shape, options: { ...USUAL, ...shape.options } })),
  ...tasks.map((shape) => ({ ...shape, task: true as const, options: { ...USUAL, ...shape.options } })),
];
