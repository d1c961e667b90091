package dev.kbx.cli;

import dev.kbx.judge.TaskReferee;
import dev.kbx.judge.Verification;
import dev.kbx.task.OwnReference;
import dev.kbx.task.Suite;
import dev.kbx.task.Task;
import dev.kbx.verdict.TaskVerdict;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * The suite of one task that is made of a user's own reference. It is kept with kbx's own things.
 */
final class OwnSuite {
  /** A reference of small inputs takes less; one that never returns would say nothing. */
  private static final Duration LONG = Duration.ofSeconds(5);

  private OwnSuite() {}

  /** Writes and opens it. */
  static Suite of(OwnReference reference) {
    Path folder = Home.state().resolve("references");
    try {
      return Home.suite(reference.write(folder).toString());
    } catch (IOException e) {
      throw new UserError("%s: cannot be written (%s)".formatted(folder, Reason.of(e)), e);
    }
  }

  /** Throws if the reference cannot be used, with its line. Says so if that takes long to tell. */
  static void check(OwnReference reference, TaskReferee verification, List<Task> tasks)
      throws InterruptedException {
    List<TaskVerdict> found = new ArrayList<>();
    Thread note = Thread.startVirtualThread(() -> say(reference));
    try {
      verification.traceShapes(tasks, found::add);
    } finally {
      note.interrupt();
    }
    for (TaskVerdict verdict : found) {
      if (verdict.problem() == null) continue;
      throw new UserError(verdict.problem().replace(verdict.file(), reference.file().toString()));
    }
  }

  private static void say(OwnReference reference) {
    try {
      Thread.sleep(LONG);
    } catch (InterruptedException e) {
      return;
    }
    System.err.printf(
        "kbx: %s: its calls are tried before anything is judged; they have taken %d s and may take"
            + " %d min%n",
        reference.file(), LONG.toSeconds(), Verification.LIMIT.toMinutes());
  }
}
