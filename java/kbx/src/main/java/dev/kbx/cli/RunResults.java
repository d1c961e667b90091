package dev.kbx.cli;

import dev.kbx.analysis.AskedTasks;
import dev.kbx.analysis.JudgedRun;
import dev.kbx.analysis.TrajectoryRow;
import dev.kbx.report.AskedSuite;
import dev.kbx.report.ResultFiles;
import dev.kbx.report.RunVerdicts;
import dev.kbx.store.RunStore;
import dev.kbx.task.Task;
import dev.kbx.verdict.RunInfo;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A complete run, whose files are written.
 *
 * @param summaries names of its {@code summary*.json}
 */
record RunResults(RunInfo run, RunVerdicts verdicts, AskedTasks asked, List<String> summaries) {
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
   * The same for a run of methods.
   *
   * @param ledger its ledger; null if it has none
   */
  static RunResults finish(
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
    RunVerdicts verdicts = StoredVerdicts.of(store, run.id());
    AskedTasks asked = AskedSuite.of(new JudgedRun(finished, verdicts.rows()), selected);
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

  /** Prints those of given sources. */
  void print(boolean json, List<String> problems, Path folder) {
    new EvalOutput(System.out, json).print(run, verdicts, asked, problems, folder);
  }

  /** Prints those of methods. */
  void print(boolean json, Path folder, List<TrajectoryRow> trajectories) {
    new EvalOutput(System.out, json).printMethods(run, verdicts, asked, folder, trajectories);
  }
}
