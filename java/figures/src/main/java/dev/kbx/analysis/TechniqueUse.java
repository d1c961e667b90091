package dev.kbx.analysis;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * One optimization technique: how often it is attempted, and what comes of it.
 *
 * @param all of all candidates whose source is known
 * @param makers of each method and model, with those that never attempt it
 */
public record TechniqueUse(String technique, Use all, List<OfMaker> makers) {
  /**
   * Candidates that attempt it.
   *
   * @param known candidates whose source is known
   * @param tasks number of tasks of those that attempt it
   * @param faster correct and faster than the run's baseline; null if that was not measured, or not
   *     of one of the correct
   * @param share correct ones, as the mean over these tasks; null if none attempts it
   * @param low lower end of its 95 % interval: Wilson's for one candidate a task, else by bootstrap
   *     over tasks
   */
  public record Use(
      int known,
      int attempted,
      int tasks,
      int correct,
      @Nullable Integer faster,
      @Nullable Double share,
      @Nullable Double low,
      @Nullable Double high) {
    private static Use of(String technique, List<VerdictRow> rows, boolean timed) {
      TaskShare.Tries tries = new TaskShare.Tries();
      List<VerdictRow> using = rows.stream().filter(row -> uses(row, technique)).toList();
      for (VerdictRow row : using) tries.add(row.path(), Iterations.isCorrect(row));
      TaskShare share = tries.share();
      List<@Nullable Boolean> faster =
          using.stream().<@Nullable Boolean>map(Outcome.FASTER::of).toList();
      boolean isKnown = timed && faster.stream().allMatch(Objects::nonNull);
      return new Use(
          (int) rows.stream().filter(row -> row.features() != null).count(),
          using.size(),
          (int) using.stream().map(VerdictRow::path).distinct().count(),
          share == null ? 0 : share.passes(),
          isKnown ? (Integer) (int) faster.stream().filter(Boolean.TRUE::equals).count() : null,
          share == null ? null : (Double) share.value(),
          share == null ? null : share.low(),
          share == null ? null : share.high());
    }
  }

  /** The candidates of one method and model. */
  public record OfMaker(MethodAndModel maker, Use use) {}

  /** Those that any candidate attempts, by name. */
  static List<TechniqueUse> of(Map<MethodAndModel, List<VerdictRow>> makers, boolean timed) {
    List<VerdictRow> all = makers.values().stream().flatMap(List::stream).toList();
    TreeSet<String> names = new TreeSet<>();
    for (VerdictRow row : all)
      if (row.features() != null) names.addAll(row.features().techniques());
    return List.copyOf(names).parallelStream()
        .map(name -> {
          List<OfMaker> own = new ArrayList<>();
          makers.forEach((maker, rows) -> own.add(new OfMaker(maker, Use.of(name, rows, timed))));
          return new TechniqueUse(name, Use.of(name, all, timed), own);
        })
        .toList();
  }

  private static boolean uses(VerdictRow row, String technique) {
    return row.features() != null && row.features().techniques().contains(technique);
  }
}
