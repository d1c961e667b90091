package dev.kbx.report;

import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Verdict;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashSet;
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

  /** UUIDs of the cards that something was timed on, in the verdicts' order. */
  public Set<String> cards() {
    Set<String> cards = new LinkedHashSet<>();
    for (Verdict verdict : verdicts) {
      String uuid = verdict.device().uuid();
      if (verdict.speedup() != null && uuid != null) cards.add(uuid);
    }
    return cards;
  }

  /** Whether both timed something on one and the same card, by name and UUID. */
  public boolean sharesCard(JudgedRun other) {
    return !Collections.disjoint(sites(), other.sites());
  }

  private Set<List<@Nullable String>> sites() {
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
