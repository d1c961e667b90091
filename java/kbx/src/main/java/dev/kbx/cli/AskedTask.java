package dev.kbx.cli;

import static java.util.Objects.requireNonNull;

import dev.kbx.plan.Plan;
import dev.kbx.task.OwnReference;
import dev.kbx.task.Suite;
import dev.kbx.task.Suites;
import dev.kbx.task.Task;
import dev.kbx.verdict.Stage;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** What candidates are judged by: a suite, or a reference of the user's own. */
final class AskedTask {
  @Option(
      names = "--suite",
      paramLabel = "SUITE",
      description =
          "kernelbenchx, kernelbench, or a folder of task files. Default: " + Suites.DEFAULT + ".")
  private @Nullable String suite;

  @Option(
      names = "--reference",
      paramLabel = "FILE[:NAME]",
      description =
          "Your own reference in place of a suite: a Python file with a class Model, get_inputs()"
              + " and get_init_inputs(), or with a function and inputs(). NAME is the function,"
              + " where the file has several.")
  private @Nullable String given;

  private @Nullable OwnReference reference;

  /** The suite that it is, or the one that is made of it. */
  Suite open() {
    if (given == null) return Home.suite(label());
    if (suite != null) {
      throw new UserError("--reference and --suite: give one of them; a reference needs no suite");
    }
    reference = OwnReference.read(given);
    return OwnSuite.of(reference);
  }

  /** What a run has as its suite; of a reference once it was opened. */
  String label() {
    if (given != null) return requireNonNull(reference).label();
    return suite == null ? Suites.DEFAULT : suite;
  }

  /** Throws if the reference cannot be used: before a run begins, not in the verdicts of it. */
  void check(JudgingPool pool, Plan plan, List<Task> selected) throws InterruptedException {
    OwnReference own = reference;
    if (own == null || !plan.reaches(Stage.COMPILE)) return;
    selected.stream().flatMap(task -> task.reads().stream()).forEach(AskedTask::sayItReads);
    OwnSuite.check(
        own,
        VerifyCommand.verification(pool, plan.arch(), plan.secret(), plan.precision()),
        selected);
  }

  private static void sayItReads(String place) {
    System.err.println(
        "kbx: %s may read more than the reference's own code, so verdicts are not remembered for later runs"
            .formatted(place));
  }
}
