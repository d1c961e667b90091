package dev.kbx.report;

import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Stage;
import org.jspecify.annotations.Nullable;

/** Sentences about a run that several outputs share. */
final class Notes {
  private Notes() {}

  /** That performance was not measured, and why; null where it was. */
  static @Nullable String perf(RunInfo run, Tally tally) {
    if (tally.perf()) return null;
    if (!run.stages().contains(Stage.PERF)) {
      return "Performance was not measured: the perf stage was not asked for.";
    }
    return "Performance was not measured: this run used no GPU.";
  }
}
