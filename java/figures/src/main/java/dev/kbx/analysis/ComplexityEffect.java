package dev.kbx.analysis;

import com.fasterxml.jackson.annotation.JsonValue;
import dev.kbx.stats.RankCorrelation;
import dev.kbx.verdict.SourceFeatures;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Rank correlation of the complexity of code with failure. Of a reference there is one point a
 * task, with the share of its candidates that fail; of candidates one point each.
 *
 * @param maker whose candidates; null for all
 * @param tasks number of tasks
 * @param rho Spearman's; null if one of the two does not vary
 * @param low lower end of its 95 % interval by bootstrap over tasks
 */
public record ComplexityEffect(
    Of of,
    Measure measure,
    Failure failure,
    @Nullable MethodAndModel maker,
    int candidates,
    int tasks,
    @Nullable Double rho,
    @Nullable Double low,
    @Nullable Double high) {

  /** Whose code. */
  public enum Of {
    REFERENCE,
    CANDIDATE;

    /** How much code it is; null where not known. */
    @Nullable Integer size(Measure measure, VerdictRow row, Pool pool) {
      if (this == REFERENCE) {
        TaskTraits traits = pool.traits().get(row.path());
        if (traits == null) return null;
        return measure == Measure.LINES ? traits.lines() : traits.complexity();
      }
      SourceFeatures own = row.features();
      if (own == null) return null;
      return measure == Measure.LINES ? own.lines() : (Integer) own.complexity();
    }

    /** As in files. */
    @JsonValue
    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** What of it is measured. */
  public enum Measure {
    /** Lines of code. */
    LINES,
    /** Cyclomatic complexity. */
    COMPLEXITY;

    /** As in files. */
    @JsonValue
    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** Which failure. */
  public enum Failure {
    /** Cannot be called, of all candidates. */
    CALL,
    /** Is not correct, of those that can be called. */
    SEMANTIC;

    private @Nullable Boolean of(VerdictRow row) {
      if (this == CALL) return !row.called();
      return row.called() ? !Iterations.isCorrect(row) : null;
    }

    /** As in files. */
    @JsonValue
    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** Where a candidate lies: rows of equal points are counted together. */
  private record Point(int cluster, int x, boolean fails) {}

  /** Of references and candidates, then of references by method and model. */
  static List<ComplexityEffect> of(
      Pool pool, Map<MethodAndModel, List<VerdictRow>> makers, List<Outcome> missing) {
    Map<@Nullable MethodAndModel, List<VerdictRow>> groups = new LinkedHashMap<>();
    groups.put(null, pool.rows());
    if (makers.size() > 1) groups.putAll(makers);
    List<ComplexityEffect> empty = new ArrayList<>();
    groups.forEach((maker, rows) -> {
      for (Of of : maker == null ? Of.values() : new Of[] {Of.REFERENCE}) {
        for (Measure measure : Measure.values()) {
          for (Failure failure : Failure.values()) {
            if (failure == Failure.SEMANTIC && missing.contains(Outcome.CORRECT)) continue;
            empty.add(new ComplexityEffect(of, measure, failure, maker, 0, 0, null, null, null));
          }
        }
      }
    });
    return empty.parallelStream().map(each -> each.measured(groups.get(each.maker), pool)).toList();
  }

  private ComplexityEffect measured(@Nullable List<VerdictRow> rows, Pool pool) {
    Map<Point, Integer> points = new LinkedHashMap<>();
    Map<String, Integer> clusters = new HashMap<>();
    int candidates = 0;
    for (VerdictRow row : rows == null ? List.<VerdictRow>of() : rows) {
      Integer size = of.size(measure, row, pool);
      Boolean fails = failure.of(row);
      if (size == null || fails == null) continue;
      int cluster = clusters.computeIfAbsent(row.path(), _ -> clusters.size());
      points.merge(new Point(cluster, size, fails), 1, Integer::sum);
      candidates++;
    }
    RankCorrelation found = of == Of.REFERENCE ? ofTasks(points) : ofCandidates(points);
    return new ComplexityEffect(
        of,
        measure,
        failure,
        maker,
        candidates,
        clusters.size(),
        found == null ? null : (Double) found.value(),
        found == null ? null : found.low(),
        found == null ? null : found.high());
  }

  private static @Nullable RankCorrelation ofCandidates(Map<Point, Integer> points) {
    List<Point> all = List.copyOf(points.keySet());
    return RankCorrelation.of(
        all.stream().mapToDouble(Point::x).toArray(),
        all.stream().mapToDouble(point -> point.fails() ? 1 : 0).toArray(),
        all.stream().mapToInt(point -> points.getOrDefault(point, 0)).toArray(),
        all.stream().mapToInt(Point::cluster).toArray());
  }

  /** All points of a task have one x. */
  private static @Nullable RankCorrelation ofTasks(Map<Point, Integer> points) {
    int tasks = points.keySet().stream().mapToInt(Point::cluster).max().orElse(-1) + 1;
    double[] x = new double[tasks];
    double[] failed = new double[tasks];
    double[] all = new double[tasks];
    int[] counts = new int[tasks];
    int[] clusters = new int[tasks];
    points.forEach((point, count) -> {
      x[point.cluster()] = point.x();
      all[point.cluster()] += count;
      if (point.fails()) failed[point.cluster()] += count;
    });
    for (int i = 0; i < tasks; i++) {
      failed[i] /= all[i];
      counts[i] = 1;
      clusters[i] = i;
    }
    return RankCorrelation.of(x, failed, counts, clusters);
  }
}
