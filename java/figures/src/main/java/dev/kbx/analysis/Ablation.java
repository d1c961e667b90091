package dev.kbx.analysis;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Two ways of generation that differ in one condition alone, on the same tasks.
 *
 * @param condition its name
 * @param first its value; null if not stated, as {@code second}
 * @param model of both; null if not stated
 * @param firstMethod name of the method, which may only be a label of the condition
 * @param compared the tasks that both have
 * @param holm p, corrected as that of a {@link MethodPair}
 */
public record Ablation(
    Outcome outcome,
    String condition,
    @Nullable String first,
    @Nullable String second,
    @Nullable String model,
    @Nullable String firstMethod,
    @Nullable String secondMethod,
    PairedTasks compared,
    double holm) {
  /** Stated by kbx, which names a method by its conditions, not by its name. */
  private static final String ALGORITHM = "algorithm";

  /** How candidates were generated. */
  private record Setting(MethodAndModel maker, Map<String, String> conditions) {
    static Setting of(VerdictRow row) {
      return new Setting(MethodAndModel.of(row), row.conditions());
    }

    /** The only condition in which both differ; null if there are several or none. */
    @Nullable String onlyDifference(Setting other) {
      if (!Objects.equals(maker.model(), other.maker.model())) return null;
      boolean named = conditions.containsKey(ALGORITHM) && other.conditions.containsKey(ALGORITHM);
      if (!named && !Objects.equals(maker.method(), other.maker.method())) return null;
      TreeSet<String> names = new TreeSet<>(conditions.keySet());
      names.addAll(other.conditions.keySet());
      names.removeIf(name -> Objects.equals(conditions.get(name), other.conditions.get(name)));
      return names.size() == 1 ? names.first() : null;
    }
  }

  /** All pairs of settings that differ in one condition, not corrected yet. */
  static List<Ablation> of(Pool pool, Outcome outcome) {
    Map<Setting, List<VerdictRow>> settings = new LinkedHashMap<>();
    for (VerdictRow row : pool.rows()) {
      if (row.conditions().isEmpty()) continue;
      settings.computeIfAbsent(Setting.of(row), _ -> new ArrayList<>()).add(row);
    }
    List<Setting> all = List.copyOf(settings.keySet());
    List<PairedTasks.Side> sides =
        settings.values().stream().map(rows -> PairedTasks.Side.of(rows, outcome)).toList();
    List<Ablation> found = new ArrayList<>();
    for (int i = 0; i < all.size(); i++) {
      for (int j = i + 1; j < all.size(); j++) {
        String condition = all.get(i).onlyDifference(all.get(j));
        if (condition == null) continue;
        PairedTasks compared = PairedTasks.of(sides.get(i), sides.get(j));
        if (compared.tasks() == 0) continue;
        found.add(of(outcome, condition, all.get(i), all.get(j), compared));
      }
    }
    return found;
  }

  private static Ablation of(
      Outcome outcome, String condition, Setting one, Setting other, PairedTasks compared) {
    return new Ablation(
        outcome,
        condition,
        one.conditions().get(condition),
        other.conditions().get(condition),
        one.maker().model(),
        one.maker().method(),
        other.maker().method(),
        compared,
        1);
  }

  /**
   * With corrected p.
   *
   * @param p of each test
   */
  Ablation corrected(Map<PairedTasks, Double> p) {
    return new Ablation(
        outcome,
        condition,
        first,
        second,
        model,
        firstMethod,
        secondMethod,
        compared,
        Objects.requireNonNull(p.get(compared)));
  }
}
