package dev.kbx.analysis;

import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Stage;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** A run and the rows of its verdicts; an interrupted run has fewer rows than candidates. */
public record JudgedRun(RunInfo run, List<VerdictRow> rows) {
  public JudgedRun {
    rows = List.copyOf(rows);
  }

  /** Whether anything in it was timed, with or without a speedup. */
  boolean isTimed() {
    return hasSpeedup() || rows.stream().anyMatch(row -> row.timed() || !row.baselines().isEmpty());
  }

  /** Whether any candidate has a speedup against the requested baseline. */
  boolean hasSpeedup() {
    return rows.stream().anyMatch(row -> row.speedup() != null);
  }

  /** Why it has no speedup, as a clause. */
  String noSpeedup() {
    return isTimed()
        ? "no speedups: no baseline %s for any of its tasks".formatted(run.baseline())
        : "nothing was timed: " + untimed();
  }

  /** UUIDs of the GPUs that candidates were timed on, in the order of the rows. */
  public Set<String> gpus() {
    Set<String> gpus = new LinkedHashSet<>();
    for (VerdictRow row : rows) {
      String uuid = row.device().uuid();
      if (row.speedup() != null && uuid != null) gpus.add(uuid);
    }
    return gpus;
  }

  /** Why nothing was timed, to follow "nothing was timed". */
  String untimed() {
    if (!run.stages().contains(Stage.PERF)) return "the perf stage was not asked for";
    return run.device().onGpu()
        ? "no candidate got to the perf stage"
        : "the run used no GPU (" + run.device().name() + ")";
  }
}
