// One flow from its first call to its end, with all that its person does on the side.
import type { Branch, Hearing, Patron, Step } from "./patron.ts";
import { followTask } from "./task-visit.ts";

/** Ends after which the same state is worth another try. */
const PASSING = ["ledger_unavailable", "effect_running", "not_done", "work_failed", "timeout"];
/** What no handler of the simulation does. */
const MISUSED = /awaiting|used twice|was called inside|is another one each round|was asked as/;
/** So often a client tries again once nothing goes wrong any more. */
const MOST_TRIES = 40;

/** Who comes back to an old state. */
const COMES_BACK = ["none", "same", "same", "same", "other", "stranger", "arguments", "tool", "altered"] as const;

export class Visit {
  readonly patron: Patron;
  readonly heard: Hearing[] = [];
  /** Somebody has given other answers to a state than before. */
  forked = false;
  readonly #kept: Branch[] = [];
  readonly #asides: Promise<void>[] = [];
  #forks = 0;
  #calmTries = 0;

  constructor(patron: Patron) {
    this.patron = patron;
  }

  async play(): Promise<void> {
    const { patron } = this;
    const { world } = patron.fleet;
    let first = await patron.start(false);
    for (let tries = 1; first.type === "unheard" || first.type === "failed" || this.#passes(first); tries++) {
      if (!this.#mayTry(first)) return;
      await this.#wait(`begin.${tries}`);
      first = await patron.start(first.type !== "unheard");
    }
    await this.#goOn(first, 0, "");
    for (const [index, branch] of this.#kept.slice(0, 4).entries()) await this.#comeBack(branch, index);
    const [last] = this.#kept.slice(-1);
    if (last !== undefined && world.luck.number(`${patron.order}/asks-again`) < 0.4) await this.#askAgain(last);
    // While they are waited for, they may begin others.
    for (const aside of this.#asides) await aside;
    world.note(patron.order, "goes home");
  }

  /** Follows a flow from where it stands to its end. */
  async #goOn(from: Step, fork: number, again: string): Promise<void> {
    let step = from;
    for (let tries = 0; ; ) {
      if (step.type === "task") return await followTask(this, step.task, step.path);
      if (step.type === "told") {
        this.heard.push(step);
        if (!this.#passes(step)) return;
      }
      if (step.type !== "waits") return;
      const { branch } = step;
      this.#checkQuestions(branch);
      const next = await this.#answer(branch, fork, `${again}${fork}.${branch.depth}.${tries}`);
      if (next.type === "refused") return;
      if (next.type === "waits") {
        if (again === "") this.#kept.push(branch);
        tries = 0;
        step = next;
        continue;
      }
      if (next.type === "failed" || next.type === "unheard" || this.#passes(next)) {
        tries += 1;
        if (!this.#mayTry(next)) return;
        if (next.type === "told") this.heard.push(next);
        await this.#wait(`${again}${fork}.${branch.depth}.${tries}`);
        continue;
      }
      if (again === "") this.#kept.push(branch);
      step = next;
    }
  }

  /** Answers a state once, in one of the ways in which people do. */
  async #answer(branch: Branch, fork: number, id: string): Promise<Step> {
    const { patron } = this;
    const { world } = patron.fleet;
    const { luck } = world;
    const answers = patron.answersTo(branch, fork);
    const whim = luck.which(`${patron.order}/whim/${id}`, [
      ["late", 0.07],
      ["forks", fork < 2 ? 0.06 : 0],
      ["cancels", 0.04],
      ["twice", 0.06],
      ["partly", answers.size > 1 ? 0.3 : 0],
    ]);
    if (whim === "late") await world.sleep((0.1 + luck.number(`${id}+`)) * 100_000, patron.process);
    if (whim === "forks" && answers.size > 0) this.#asides.push(this.#fork(branch, id));
    if (whim === "cancels") {
      const ending = new AbortController();
      world.after(luck.number(`${id}+`) * 400, patron.process, () => ending.abort());
      return await patron.advance(branch, answers, ending.signal);
    }
    if (whim === "twice") {
      const both = await Promise.all([patron.advance(branch, answers), patron.advance(branch, answers)]);
      for (const each of both) if (each.type === "told") this.heard.push(each);
      return both.find(({ type }) => type !== "unheard" && type !== "failed") ?? both[0];
    }
    if (whim === "partly") {
      const left = luck.pick(`${id}?`, [...answers.keys()]);
      return await patron.raw(branch, new Map([...answers].filter(([key]) => key !== left)), {});
    }
    return await patron.advance(branch, answers);
  }

  /** The same state with other answers, now or soon. */
  async #fork(branch: Branch, id: string): Promise<void> {
    const { patron } = this;
    const { world } = patron.fleet;
    this.forked = true;
    const fork = ++this.#forks;
    await world.sleep(world.luck.number(`${id}/fork`) < 0.5 ? 0 : world.luck.number(`${id}+`) * 20_000, patron.process);
    const step = await this.#answer(branch, fork, `f${id}`);
    await this.#goOn(step, fork, `f${fork}/`);
  }

  /** Asks once more, after a while, how it went. */
  async #askAgain(branch: Branch): Promise<void> {
    const { patron } = this;
    const { world } = patron.fleet;
    await world.sleep(world.luck.number(`${patron.order}/asks-again+`) * 45_000, patron.process);
    const step = await patron.advance(branch, patron.answersTo(branch, branch.fork));
    await this.#goOn(step, branch.fork, "once-more/");
  }

  /** Comes back to a state that was answered before, or lets somebody come who has no right to. */
  async #comeBack(branch: Branch, index: number): Promise<void> {
    const { patron } = this;
    const { world, plan } = patron.fleet;
    const { luck } = world;
    const id = `${patron.order}/back/${index}`;
    // These do no harm once nothing else goes wrong, and are no mishap then either: so they are drawn with the odds of calm.
    const kind = luck.pick(id, COMES_BACK);
    const answers = patron.answersTo(branch, branch.fork);
    const state = branch.data.requestState ?? "";
    if (kind === "none" || state === "") return;
    if (luck.number(`${id}/late`) < 0.4) await world.sleep(luck.number(`${id}+`) * 60_000, patron.process);
    world.note(patron.order, `comes back to ${branch.fork}.${branch.depth}: ${kind}`);
    switch (kind) {
      case "same":
        return await this.#goOn(await patron.advance(branch, answers), branch.fork, `again${index}/`);
      case "other": {
        if (answers.size === 0) return;
        this.forked = true;
        const fork = ++this.#forks;
        return await this.#goOn(await patron.advance(branch, patron.answersTo(branch, fork)), fork, `other${index}/`);
      }
      case "stranger": {
        const principal = { type: "user", issuer: "simulation", subject: "stranger" } as const;
        await patron.raw(branch, answers, { principal, forged: "it was another caller's" });
        return;
      }
      case "arguments":
        await patron.raw(branch, answers, { order: "another", forged: "it was sealed for other arguments" });
        return;
      case "tool": {
        const other = plan.shapes.find(({ name }) => name !== patron.shape.name);
        if (other !== undefined)
          await patron.raw(branch, answers, { tool: other.name, forged: "it was another tool's" });
        return;
      }
      case "altered": {
        const at = luck.below(`${id}@`, state.length);
        const altered = state.slice(0, at) + (state[at] === "A" ? "B" : "A") + state.slice(at + 1);
        await patron.raw(branch, answers, { state: altered, forged: "it was altered" });
      }
    }
  }

  #checkQuestions(branch: Branch): void {
    const { order, shape, fleet } = this.patron;
    for (const key of Object.keys(branch.data.requests)) {
      if (!branch.path.has(key) || shape.asksAgain) continue;
      fleet.world.violate(`${order}: ${key} is asked although it was answered`);
    }
  }

  #passes(step: Step): boolean {
    if (step.type !== "told") return false;
    const { end } = step.told;
    return (
      end !== undefined && (PASSING.includes(end) || (end === "effect_in_doubt" && this.patron.shape.recovers === true))
    );
  }

  #mayTry(step: Step): boolean {
    const { world } = this.patron.fleet;
    if (step.type === "failed" && MISUSED.test(step.message)) {
      world.violate(`${this.patron.order}: ${step.message}`);
      return false;
    }
    if (!world.luck.calm || ++this.#calmTries < MOST_TRIES) return true;
    const end = step.type === "told" ? step.told.end : JSON.stringify(step);
    world.violate(`${this.patron.order}: comes to no end: ${end}`, end === "effect_running" ? "heartbeat" : "");
    return false;
  }

  async #wait(id: string): Promise<void> {
    const { fleet, order, process } = this.patron;
    await fleet.world.sleep(100 + fleet.world.luck.number(`${order}/wait/${id}`) * 6_000, process);
  }
}
