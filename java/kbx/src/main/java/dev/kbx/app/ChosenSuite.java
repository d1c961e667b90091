package dev.kbx.app;

import dev.kbx.error.InputException;
import dev.kbx.judge.TaskReferee;
import dev.kbx.judge.Verification;
import dev.kbx.plan.Plan;
import dev.kbx.task.OwnReference;
import dev.kbx.task.Suite;
import dev.kbx.task.Task;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.TaskVerdict;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What candidates are judged by: a suite, or the suite of one task that is made of a user's own
 * reference and kept with kbx's own things.
 *
 * @param label what runs call it
 * @param reference null for a suite
 */
public record ChosenSuite(String label, Suite suite, @Nullable OwnReference reference) {
  /** A reference of small inputs takes less; one that never returns would say nothing. */
  private static final Duration LONG = Duration.ofSeconds(5);

  /** Opens a suite by its name or folder. Throws as {@link Home#suite(String)} does. */
  public static ChosenSuite of(Home home, String nameOrFolder) {
    return new ChosenSuite(nameOrFolder, home.suite(nameOrFolder), null);
  }

  /** Makes a suite of a reference. */
  public static ChosenSuite of(Home home, OwnReference reference) {
    Path folder = home.state().resolve("references");
    try {
      Suite suite = home.suite(reference.write(folder).toString());
      return new ChosenSuite(reference.label(), suite, reference);
    } catch (IOException e) {
      throw new InputException("%s: cannot be written (%s)".formatted(folder, Reason.of(e)), e);
    }
  }

  /** Throws if the reference cannot be used: before a run begins, not in the verdicts of it. */
  public void check(JudgingPool pool, Plan plan, List<Task> selected, Observer observer)
      throws InterruptedException {
    if (reference == null || !plan.reaches(Stage.COMPILE)) return;
    selected.stream()
        .flatMap(task -> task.reads().stream())
        .forEach(place ->
            observer.note(
                place
                    + " may read more than the reference's own code, so verdicts are not remembered"
                    + " for later runs"));
    TaskReferee verification =
        pool.tasks(JudgingPool.controls(plan.arch(), plan.secret(), plan.precision()));
    check(reference, verification, selected, observer);
  }

  /** Throws if the reference cannot be used, with its line. Says so if that takes long to tell. */
  public static void check(
      OwnReference reference, TaskReferee verification, List<Task> tasks, Observer observer)
      throws InterruptedException {
    List<TaskVerdict> found = new ArrayList<>();
    Thread note = Thread.startVirtualThread(() -> say(reference, observer));
    try {
      verification.traceShapes(tasks, found::add);
    } finally {
      note.interrupt();
    }
    for (TaskVerdict verdict : found) {
      if (verdict.problem() == null) continue;
      throw new InputException(
          verdict.problem().replace(verdict.file(), reference.file().toString()));
    }
  }

  private static void say(OwnReference reference, Observer observer) {
    try {
      Thread.sleep(LONG);
    } catch (InterruptedException e) {
      return;
    }
    observer.note(
        "%s: its calls are tried before anything is judged; they have taken %d s and may take %d min"
            .formatted(reference.file(), LONG.toSeconds(), Verification.LIMIT.toMinutes()));
  }
}
