package dev.kbx.cluster;

import dev.kbx.judge.Conditions;
import dev.kbx.judge.TaskReferee;
import dev.kbx.plan.Plan;
import dev.kbx.task.Task;
import dev.kbx.verdict.TaskVerdict;

/** Examines tasks on the nodes of a cluster. */
record ClusterTasks(ClusterReferee referee, Plan plan, Conditions conditions)
    implements TaskReferee {
  @Override
  public int capacity() {
    return referee.capacity();
  }

  @Override
  public TaskVerdict verify(Task task) throws InterruptedException {
    return here(task, referee.examine(task, plan, true));
  }

  @Override
  public TaskVerdict trace(Task task) throws InterruptedException {
    return here(task, referee.examine(task, plan, false));
  }

  @Override
  public String key(Task task) {
    return conditions.key(task, plan);
  }

  /** A node names its own copy of the task's file. */
  private TaskVerdict here(Task task, TaskVerdict there) {
    return new TaskVerdict(
        there.name(),
        there.suite(),
        there.category(),
        task.file().toString(),
        there.precision(),
        there.problem(),
        there.controls(),
        there.seconds(),
        key(task));
  }
}
