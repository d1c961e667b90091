package dev.kbx.report;

import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Verdict;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Sentences about a run that several outputs share. */
final class Notes {
  private Notes() {}

  /**
   * How many were timed and have no speedup, since what they were to be held against is not there.
   */
  static @Nullable String baseline(RunInfo run, List<Verdict> verdicts) {
    List<Verdict> timed = verdicts.stream().filter(v -> v.baselines() != null).toList();
    long without = timed.stream().filter(v -> v.speedup() == null).count();
    if (without == 0) return null;
    return "%d of %d timed candidates have no speedup: no baseline %s for their tasks."
        .formatted(without, timed.size(), run.baseline());
  }

  /**
   * How many were judged on less than their tasks are about; null where none was. A task's
   * published size may need a GPU.
   */
  static @Nullable String scaled(List<Verdict> verdicts) {
    int scaled = countScaled(verdicts);
    if (scaled == 0) return null;
    return "Judged on scaled inputs, not on the published sizes, which need a GPU: %d of %s."
        .formatted(scaled, Counted.of(verdicts.size(), "candidate"));
  }

  static int countScaled(List<Verdict> verdicts) {
    long scaled = verdicts.stream().filter(v -> v.flags().contains("scaled_inputs")).count();
    return Math.toIntExact(scaled);
  }

  /** That performance was not measured, and why; null where it was. */
  static @Nullable String perf(RunInfo run, Tally tally) {
    if (tally.perf()) return null;
    if (run.stages().getLast() == Stage.STATIC) {
      return "Nothing was run: of the stages only static was asked for, and correct means that it"
          + " found nothing.";
    }
    if (!run.stages().contains(Stage.PERF)) {
      return "Performance was not measured: the perf stage was not asked for.";
    }
    return "Performance was not measured: this run used no GPU.";
  }
}
