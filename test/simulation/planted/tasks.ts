// Stores, workers and wakers of tasks with something left out.

import { createTasksWithIds } from "../../../src/tasks/create.ts";
import { isTerminal, type SealedWrite, type TaskHead } from "../../../src/tasks/index.ts";
import { ModelTasks } from "../model-tasks.ts";
import type { Planted } from "../planted.ts";

const SHAPES = ["to-task", "task-of-steps", "task-of-questions", "task-of-all"];

class NoVersions extends ModelTasks {
  override update(id: string, _version: number, head: TaskHead, sealed?: SealedWrite): boolean {
    return super.update(id, this.records.get(id)?.version ?? 0, head, sealed);
  }
}

class EndsAreNoEnds extends ModelTasks {
  override update(id: string, _version: number, head: TaskHead, sealed?: SealedWrite): boolean {
    const before = this.records.get(id);
    if (before !== undefined) this.write(before, head, sealed);
    return before !== undefined;
  }
}

/** A write that was acknowledged, and lost in a fail-over. */
class LosesWrites extends ModelTasks {
  override update(id: string, version: number, head: TaskHead, sealed?: SealedWrite): boolean {
    const lost = version % 4 === 3 && !isTerminal(head.status);
    return lost ? this.records.get(id)?.version === version : super.update(id, version, head, sealed);
  }
}

/** Finds no task whose wake was lost. */
class NothingDue extends ModelTasks {
  override due(): readonly string[] {
    return [];
  }
}

class KeepsForEver extends ModelTasks {
  override sweep(): void {}
}

let made = 0;

export const TASKS: readonly Planted[] = [
  { name: "a save of a task without a version check", tasks: () => new NoVersions(), shapes: SHAPES },
  { name: "a terminal status that is overwritten", tasks: () => new EndsAreNoEnds(), shapes: SHAPES },
  { name: "a write of a task that is acknowledged and lost", tasks: () => new LosesWrites(), shapes: SHAPES },
  { name: "a wake that is lost, and no sweep", tasks: () => new NothingDue(), shapes: SHAPES },
  { name: "tasks that are never removed", tasks: () => new KeepsForEver(), shapes: SHAPES },
  {
    name: "a hand-off that makes another task each time",
    taskService: (engine) => createTasksWithIds({ engine }, () => `task-${++made}`),
    shapes: ["to-task"],
  },
];
