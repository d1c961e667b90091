package dev.kbx.analysis;

import dev.kbx.verdict.Against;
import dev.kbx.verdict.Verdict.Baseline;
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
 * The baselines in a run's verdicts, and the speedups of correct candidates against each.
 *
 * @param names {@code eager} first
 */
record BaselineSpeeds(List<String> names) {
  static final String EAGER = "eager";

  /** The fastest baseline of a task; a candidate's speedup against it is its smallest. */
  static final String BEST = "best";

  BaselineSpeeds {
    names = List.copyOf(names);
  }

  /** The baselines of a run; only eager if nothing was timed. */
  static BaselineSpeeds of(List<VerdictRow> verdicts) {
    Set<String> names = new LinkedHashSet<>();
    for (VerdictRow verdict : verdicts) names.addAll(verdict.baselines().keySet());
    if (names.isEmpty()) names.add(EAGER);
    return new BaselineSpeeds(List.copyOf(names));
  }

  /** The names of the baselines, and {@link #BEST} if there are several. */
  List<String> withBest() {
    if (references().size() < 2) return names;
    List<String> all = new ArrayList<>(names);
    all.add(BEST);
    return List.copyOf(all);
  }

  /** Those that PyTorch runs: an expert's kernel is a bar of its own. */
  private List<String> references() {
    return names.stream().filter(name -> !name.equals(Baseline.EXPERT)).toList();
  }

  /** The name here of the baseline that a run asked for, {@code best (compile), warm cache}. */
  String named(String asked) {
    List<String> all = withBest();
    if (all.contains(asked)) return asked;
    String name = Against.of(asked).baseline();
    // The best of one is that one.
    return name.equals(BEST) && all.size() == 1 ? all.getFirst() : name;
  }

  /**
   * Known speedups of a candidate by baseline, as in {@link #withBest}; none unless it is correct.
   */
  Map<String, Double> of(VerdictRow verdict) {
    if (!verdict.correct()) return Map.of();
    Map<String, @Nullable Double> values = verdict.baselines();
    Map<String, Double> known = new LinkedHashMap<>();
    for (String name : names) {
      Double value = values.get(name);
      if (value != null) known.put(name, value);
    }
    // A baseline that failed for the task is ignored; one that was not requested might be the best.
    List<Double> ofReferences =
        references().stream().map(known::get).filter(Objects::nonNull).toList();
    if (references().size() > 1 && !ofReferences.isEmpty() && values.keySet().containsAll(names)) {
      known.put(BEST, Collections.min(ofReferences));
    }
    return Collections.unmodifiableMap(known);
  }

  /** Whether anything was timed, with or without a speedup. */
  boolean isTimed(JudgedRun run) {
    return run.isTimed() || run.rows().stream().anyMatch(verdict -> !of(verdict).isEmpty());
  }
}
