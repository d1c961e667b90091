package dev.kbx.report;

import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Verdict;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** A run and its verdicts by position; fewer than its candidates where it was cut off. */
public record JudgedRun(RunInfo run, List<Verdict> verdicts) {
  public JudgedRun {
    verdicts = List.copyOf(verdicts);
  }

  /** Whether anything in it was timed. */
  public boolean isTimed() {
    return verdicts.stream().anyMatch(verdict -> verdict.speedup() != null);
  }

  /** Whether both timed something on one and the same card, by name and UUID. */
  public boolean sharesCard(JudgedRun other) {
    return !Collections.disjoint(cards(), other.cards());
  }

  private Set<List<@Nullable String>> cards() {
    return verdicts.stream()
        .filter(verdict -> verdict.speedup() != null)
        .map(Verdict::device)
        .map(device -> Arrays.asList(device.name(), device.uuid()))
        .collect(Collectors.toSet());
  }

  /** Why nothing was timed, to follow "nothing was timed". */
  String untimed() {
    if (!run.stages().contains(Stage.PERF)) return "the perf stage was not asked for";
    return run.device().kind().equals("cuda")
        ? "no candidate got to the perf stage"
        : "the run used no GPU (" + run.device().name() + ")";
  }
}
