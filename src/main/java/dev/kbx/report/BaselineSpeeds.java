package dev.kbx.report;

import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict;
import dev.kbx.verdict.Verdict.Baseline;
import dev.kbx.verdict.Verdict.Speedup;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The baselines that a run's verdicts hold, and what correct candidates gain over each.
 *
 * @param names {@code eager} first
 */
record BaselineSpeeds(List<String> names) {
  static final String EAGER = "eager";

  /** The fastest of all for the task: who has the least over a baseline has it against that. */
  static final String BEST = "best";

  BaselineSpeeds {
    names = List.copyOf(names);
  }

  /** Those of a run; eager alone where nothing was timed, as everything is timed beside it. */
  static BaselineSpeeds of(List<Verdict> verdicts) {
    Set<String> names = new LinkedHashSet<>();
    for (Verdict verdict : verdicts) names.addAll(values(verdict).keySet());
    if (names.isEmpty()) names.add(EAGER);
    return new BaselineSpeeds(List.copyOf(names));
  }

  /** The same with {@link #BEST} where there are several to be the best of. */
  List<String> withBest() {
    if (names.size() < 2) return names;
    List<String> all = new ArrayList<>(names);
    all.add(BEST);
    return List.copyOf(all);
  }

  /** Known speedups of a candidate by the names of {@link #withBest}; none unless it is correct. */
  Map<String, Double> of(Verdict verdict) {
    if (verdict.status() != Status.CORRECT) return Map.of();
    Map<String, @Nullable Double> values = values(verdict);
    Map<String, Double> known = new LinkedHashMap<>();
    for (String name : names) {
      Double value = values.get(name);
      if (value != null) known.put(name, value);
    }
    // A baseline that failed for the task is not its best; one that was not asked for might be.
    if (names.size() > 1 && !known.isEmpty() && values.keySet().containsAll(names)) {
      known.put(BEST, Collections.min(known.values()));
    }
    return Collections.unmodifiableMap(known);
  }

  /** Whether a speedup of it is known, be it against the baseline asked for or another. */
  boolean isTimed(JudgedRun run) {
    return run.isTimed() || run.verdicts().stream().anyMatch(verdict -> !of(verdict).isEmpty());
  }

  /** By name; null where there is no such baseline for the task. */
  private static Map<String, @Nullable Double> values(Verdict verdict) {
    Map<String, @Nullable Double> values = new LinkedHashMap<>();
    List<Baseline> baselines = verdict.baselines();
    Speedup speedup = verdict.speedup();
    if (baselines != null) {
      baselines.forEach(baseline -> values.put(baseline.name(), baseline.speedup()));
    } else if (speedup != null) {
      // Verdicts of earlier versions hold this one alone.
      values.put(Objects.requireNonNull(Speeds.baseline(verdict)), speedup.value());
    }
    return values;
  }
}
