package dev.kbx.cli;

import dev.kbx.judge.TaskReferee;
import dev.kbx.task.OwnReference;
import dev.kbx.task.Suite;
import dev.kbx.task.Task;
import dev.kbx.verdict.TaskVerdict;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The suite of one task that is made of a user's own reference. It is kept with kbx's own things.
 */
final class OwnSuite {
  private OwnSuite() {}

  /** Writes and opens it. */
  static Suite of(OwnReference reference) {
    Path folder = Home.state().resolve("references");
    try {
      return Home.suite(reference.write(folder).toString());
    } catch (IOException e) {
      throw new UserError("%s: cannot be written (%s)".formatted(folder, Reason.of(e)));
    }
  }

  /** Throws if the reference cannot be used, with its line. */
  static void check(TaskReferee verification, List<Task> tasks) throws InterruptedException {
    List<TaskVerdict> found = new ArrayList<>();
    verification.traceShapes(tasks, found::add);
    for (TaskVerdict verdict : found) {
      if (verdict.problem() != null) throw new UserError(verdict.problem());
    }
  }
}
