package dev.kbx.analysis;

import com.fasterxml.jackson.annotation.JsonValue;
import dev.kbx.analysis.Methods.Unmeasured;
import dev.kbx.stats.RankCorrelation;
import dev.kbx.verdict.SourceFeatures;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * How failure goes with the complexity of code, and which optimization techniques succeed.
 *
 * @param withoutReference candidates on tasks whose reference has no known complexity, as the suite
 *     is missing, has changed since the run, or has no source of it
 * @param withoutFeatures candidates of whose source nothing is known: it does not parse, or an
 *     earlier version judged it
 */
public record CodeQuality(
    Inclusion entered,
    List<Unmeasured> unmeasured,
    int withoutReference,
    int withoutFeatures,
    List<ComplexityEffect> complexity,
    List<TechniqueUse> techniques) {

  /** Analyses the candidates of all runs; of several rounds the last one counts. */
  public static CodeQuality of(SelectedRuns runs) {
    Pool pool = runs.pool(Pool.Rounds.LAST);
    List<Unmeasured> unmeasured = new ArrayList<>();
    for (Outcome outcome : List.of(Outcome.CALLED, Outcome.CORRECT, Outcome.FASTER)) {
      String why = outcome.unmeasuredIn(runs);
      if (why != null) unmeasured.add(new Unmeasured(outcome, why));
    }
    List<Outcome> missing = unmeasured.stream().map(Unmeasured::outcome).toList();
    Map<MethodAndModel, List<VerdictRow>> makers = MethodAndModel.group(pool.rows());
    return new CodeQuality(
        pool.entered(),
        unmeasured,
        (int)
            pool.rows().stream()
                .filter(row ->
                    ComplexityEffect.Of.REFERENCE.size(
                            ComplexityEffect.Measure.COMPLEXITY, row, pool)
                        == null)
                .count(),
        (int) pool.rows().stream().filter(row -> row.features() == null).count(),
        missing.contains(Outcome.CALLED) ? List.of() : ComplexityEffect.of(pool, makers, missing),
        missing.contains(Outcome.CORRECT)
            ? List.of()
            : TechniqueUse.of(makers, !missing.contains(Outcome.FASTER)));
  }

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
     * @param faster correct and faster than the run's baseline; null if that was not measured, or
     *     not of one of the correct
     * @param share correct ones, as the mean over these tasks; null if none attempts it
     * @param low lower end of its 95 % interval: Wilson's for one candidate a task, else by
     *     bootstrap over tasks
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

    /** The techniques that any candidate attempts, by name. */
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

    /** Whose code is measured. */
    public enum Of {
      REFERENCE,
      CANDIDATE;

      /** How much code it is; null where not known. */
      @Nullable Integer size(Measure measure, VerdictRow row, Pool pool) {
        if (this == REFERENCE) {
          SelectedRun.TaskTraits traits = pool.traits().get(row.path());
          if (traits == null) return null;
          return measure == Measure.LINES ? traits.lines() : traits.complexity();
        }
        SourceFeatures own = row.features();
        if (own == null) return null;
        return measure == Measure.LINES ? own.lines() : (Integer) own.complexity();
      }

      /** The name in files. */
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

      /** The name in files. */
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

      /** The name in files. */
      @JsonValue
      public String label() {
        return name().toLowerCase(Locale.ROOT);
      }
    }

    /** Where a candidate lies: rows of equal points are counted together. */
    private record Point(int cluster, int x, boolean fails) {}

    /** The effects of references and candidates, then those of references by method and model. */
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
      return empty.parallelStream()
          .map(each -> each.measured(groups.get(each.maker), pool))
          .toList();
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
}
