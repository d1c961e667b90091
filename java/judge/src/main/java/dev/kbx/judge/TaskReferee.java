package dev.kbx.judge;

import dev.kbx.task.Task;
import dev.kbx.verdict.TaskVerdict;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** Judges tasks by their controls. Safe for several threads. */
public interface TaskReferee {
  /** Number of tasks judged concurrently. */
  int capacity();

  /** Runs a task's controls. */
  TaskVerdict verify(Task task) throws InterruptedException;

  /** Loads a task and traces the shapes of its calls; the verdict has no controls. */
  TaskVerdict trace(Task task) throws InterruptedException;

  /** Hash of everything a task's verdict depends on: its files, the secret, device and versions. */
  String key(Task task);

  /**
   * Judges tasks on all slots, in no particular order.
   *
   * @param before verdicts that are still valid, by task path; they are passed to the listener
   *     unchanged
   * @param listener receives each verdict, one at a time
   */
  default void run(
      List<Task> tasks, Map<String, TaskVerdict> before, Consumer<TaskVerdict> listener)
      throws InterruptedException {
    Dispatcher.run(
        capacity(),
        tasks,
        task -> {
          TaskVerdict known = before.get(task.path());
          TaskVerdict verdict = known == null ? verify(task) : known;
          synchronized (listener) {
            listener.accept(verdict);
          }
        });
  }

  /**
   * Loads tasks and traces the shapes of their calls, on all slots.
   *
   * @param listener as for {@link #run}
   */
  default void traceShapes(List<Task> tasks, Consumer<TaskVerdict> listener)
      throws InterruptedException {
    Dispatcher.run(
        capacity(),
        tasks,
        task -> {
          TaskVerdict verdict = trace(task);
          synchronized (listener) {
            listener.accept(verdict);
          }
        });
  }
}
