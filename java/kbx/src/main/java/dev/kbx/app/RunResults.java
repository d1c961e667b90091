package dev.kbx.app;

import dev.kbx.analysis.JudgedRun;
import dev.kbx.analysis.SelectedTasks;
import dev.kbx.report.ResultFiles;
import dev.kbx.report.RunVerdicts;
import dev.kbx.report.SuiteSelection;
import dev.kbx.store.RunStore;
import dev.kbx.task.Task;
import dev.kbx.verdict.BriefVerdict;
import dev.kbx.verdict.RunInfo;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A complete run, whose files are written.
 *
 * @param summaries names of its {@code summary*.json}
 */
public record RunResults(
    RunInfo run, RunVerdicts verdicts, SelectedTasks asked, List<String> summaries) {
  /**
   * Completes a run that has all its verdicts.
   *
   * @param selected the tasks of its selection
   */
  static RunResults finish(
      RunStore store, RunInfo run, ResultFiles files, List<Task> selected, List<String> problems) {
    return finish(store, run, files, selected, problems, null);
  }

  /**
   * Finishes a run of methods.
   *
   * @param ledger its ledger; null if it has none
   */
  public static RunResults finish(
      RunStore store,
      RunInfo run,
      ResultFiles files,
      List<Task> selected,
      List<String> problems,
      @Nullable Path ledger) {
    // A complete run must not change: copies of it would differ.
    boolean complete = run.finished() != null;
    RunInfo finished = complete ? run : run.finishedAt(Instant.now());
    if (!complete) store.finish(finished);
    RunVerdicts verdicts = verdicts(store, run.id());
    SelectedTasks asked = SuiteSelection.of(new JudgedRun(finished, verdicts.rows()), selected);
    List<String> summaries =
        files.finish(
            finished,
            verdicts,
            asked,
            v -> store.source(v.provenance().candidate()).orElse(""),
            problems,
            ledger == null ? null : LedgerReport.of(ledger, verdicts.rows()));
    return new RunResults(finished, verdicts, asked, summaries);
  }

  /** A run's verdicts, from the store. */
  public static RunVerdicts verdicts(RunStore store, String run) {
    return verdicts(store, run, _ -> true);
  }

  /** The verdicts on kernels of one method. */
  public static RunVerdicts verdicts(RunStore store, String run, String method) {
    return verdicts(store, run, verdict -> method.equals(verdict.method()));
  }

  private static RunVerdicts verdicts(RunStore store, String run, Predicate<BriefVerdict> wanted) {
    RunVerdicts.Reader reader = new RunVerdicts.Reader();
    store.forEachRow(
        run,
        placed -> {
          if (wanted.test(placed.verdict())) reader.add(placed.position(), placed.verdict());
        });
    return reader.verdicts(position -> store.verdict(run, position));
  }
}
