package dev.kbx.analysis;

import dev.kbx.verdict.Status;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The baselines that a run's verdicts hold, and the speedups of correct candidates against each.
 *
 * @param names {@code eager} first
 */
record BaselineSpeeds(List<String> names) {
  static final String EAGER = "eager";

  /** The task's fastest baseline: the smallest of a candidate's speedups is against it. */
  static final String BEST = "best";

  BaselineSpeeds {
    names = List.copyOf(names);
  }

  /** Those of a run; eager alone where nothing was timed, as everything is timed beside it. */
  static BaselineSpeeds of(List<VerdictRow> verdicts) {
    Set<String> names = new LinkedHashSet<>();
    for (VerdictRow verdict : verdicts) names.addAll(verdict.baselines().keySet());
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
  Map<String, Double> of(VerdictRow verdict) {
    if (verdict.status() != Status.CORRECT) return Map.of();
    Map<String, @Nullable Double> values = verdict.baselines();
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

  /** Whether a speedup against any baseline is known, or something was timed without one. */
  boolean isTimed(JudgedRun run) {
    return run.isTimed() || run.rows().stream().anyMatch(verdict -> !of(verdict).isEmpty());
  }
}
