package dev.kbx.analysis;

import dev.kbx.verdict.Status;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What some runs answer: who solves most, how certain that is, and what goes wrong most.
 *
 * @param tasks number of tasks tried by any
 * @param asked number of tasks asked for
 * @param ranking without places where results were not compared
 * @param failure null if no candidate failed, or none in a way that is more frequent than others
 * @param breaking null if no candidate right at the published grade breaks beyond it
 */
public record Finding(
    int tasks, int asked, Ranking ranking, @Nullable Failure failure, @Nullable Breaking breaking) {
  /** The same of files, which ask for their own tasks alone. */
  public Finding withoutCoverage() {
    return new Finding(tasks, tasks, ranking, failure, breaking);
  }

  /**
   * The most frequent failure.
   *
   * @param candidates number of those that ended so, {@code of} all that failed
   * @param category the one with most of them; {@code inCategory} their number there
   */
  public record Failure(Status status, int candidates, int of, String category, int inCategory) {}

  /**
   * The property of calls that most break on.
   *
   * @param candidates number of those that do, {@code of} those right at the published grade
   */
  public record Breaking(String property, int candidates, int of) {}

  /** Of several rounds the last one counts. */
  public static Finding of(SelectedRuns runs) {
    Pool pool = runs.pool(Pool.Rounds.LAST);
    boolean known = !pool.entered().ofChanges() && Outcome.CORRECT.unmeasuredIn(runs) == null;
    return new Finding(
        pool.entered().tasks(),
        pool.entered().asked(),
        known
            ? Ranking.of(MethodAndModel.group(pool.rows()), Outcome.CORRECT)
            : new Ranking(List.of()),
        failure(pool.rows()),
        breaking(pool.rows()));
  }

  private static @Nullable Failure failure(List<VerdictRow> rows) {
    List<VerdictRow> failed = rows.stream().filter(row -> !row.correct()).toList();
    Map<Status, Integer> statuses = new HashMap<>();
    for (VerdictRow row : failed) statuses.merge(row.status(), 1, Integer::sum);
    Status status = most(statuses);
    if (status == null) return null;
    int count = Objects.requireNonNull(statuses.get(status));
    if (Collections.frequency(statuses.values(), count) > 1) return null;
    Map<String, Integer> categories = new HashMap<>();
    for (VerdictRow row : failed) {
      if (row.status() == status) categories.merge(row.category(), 1, Integer::sum);
    }
    String category = Objects.requireNonNull(most(categories));
    return new Failure(
        status, count, failed.size(), category, Objects.requireNonNull(categories.get(category)));
  }

  private static @Nullable Breaking breaking(List<VerdictRow> rows) {
    List<VerdictRow> right =
        rows.stream().filter(row -> Boolean.TRUE.equals(row.publishedOk())).toList();
    Map<String, Integer> properties = new HashMap<>();
    for (VerdictRow row : right) row.breaks().forEach(p -> properties.merge(p, 1, Integer::sum));
    String property = most(properties);
    return property == null
        ? null
        : new Breaking(property, Objects.requireNonNull(properties.get(property)), right.size());
  }

  /** Of equally many the first by name; null without any. */
  private static <K extends Comparable<? super K>> @Nullable K most(Map<K, Integer> counts) {
    return counts.entrySet().stream()
        .min(
            Comparator.comparingInt((Map.Entry<K, Integer> each) -> -each.getValue())
                .thenComparing(Map.Entry::getKey))
        .map(Map.Entry::getKey)
        .orElse(null);
  }
}
