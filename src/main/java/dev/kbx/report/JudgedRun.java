package dev.kbx.report;

import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Verdict;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** A run and its verdicts by position; fewer than its candidates where it was cut off. */
public record JudgedRun(RunInfo run, List<Verdict> verdicts) {
  public JudgedRun {
    verdicts = List.copyOf(verdicts);
  }

  /** Whether anything in it was timed, be there a speedup or not. */
  public boolean isTimed() {
    return hasSpeedup()
        || verdicts.stream().anyMatch(v -> Tally.isTrue(v.perfOk()) || v.baselines() != null);
  }

  /** Whether anything in it has a speedup against the baseline asked for. */
  boolean hasSpeedup() {
    return verdicts.stream().anyMatch(verdict -> verdict.speedup() != null);
  }

  /** Why it has no speedup, as a clause. */
  String noSpeedup() {
    return isTimed()
        ? "no speedups: no baseline %s for any of its tasks".formatted(run.baseline())
        : "nothing was timed: " + untimed();
  }

  /** UUIDs of the cards that something was timed on, in the verdicts' order. */
  public Set<String> cards() {
    Set<String> cards = new LinkedHashSet<>();
    for (Verdict verdict : verdicts) {
      String uuid = verdict.device().uuid();
      if (verdict.speedup() != null && uuid != null) cards.add(uuid);
    }
    return cards;
  }

  /** Why nothing was timed, to follow "nothing was timed". */
  String untimed() {
    if (!run.stages().contains(Stage.PERF)) return "the perf stage was not asked for";
    return run.device().kind().equals("cuda")
        ? "no candidate got to the perf stage"
        : "the run used no GPU (" + run.device().name() + ")";
  }
}
