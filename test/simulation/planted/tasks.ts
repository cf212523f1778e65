// Stores, workers and wakers of tasks with something left out.

import { createTasksWithIds } from "../../../src/tasks/create.ts";
import { isTerminal, type TaskRecord } from "../../../src/tasks/index.ts";
import { ModelTasks } from "../model-tasks.ts";
import type { Planted } from "../planted.ts";

const SHAPES = ["to-task", "task-of-steps", "task-of-questions", "task-of-all"];

/** Whoever has the task has the number of everybody else who ever had it. */
class NoEpochs extends ModelTasks {
  override read(id: string): TaskRecord | undefined {
    const record = super.read(id);
    return record && { ...record, epoch: record.leaseUntil !== null && record.leaseUntil > Date.now() ? 2 : 1 };
  }
}

class NoVersions extends ModelTasks {
  override update(id: string, _version: number, record: TaskRecord): boolean {
    return super.update(id, this.records.get(id)?.version ?? 0, record);
  }
}

class EndsAreNoEnds extends ModelTasks {
  override update(id: string, _version: number, record: TaskRecord): boolean {
    this.records.set(id, record);
    return true;
  }
}

/** A write that was acknowledged, and lost in a fail-over. */
class LosesWrites extends ModelTasks {
  override update(id: string, version: number, record: TaskRecord): boolean {
    const lost = version % 4 === 3 && !isTerminal(record.status);
    return lost ? this.records.get(id)?.version === version : super.update(id, version, record);
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
  { name: "a save of a task without an epoch check", tasks: () => new NoEpochs(), shapes: SHAPES },
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
