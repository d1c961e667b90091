package dev.kbx.analysis;

import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import dev.kbx.analysis.JointDeviance.Factors.Pair;
import dev.kbx.stats.BinomialDeviance;
import dev.kbx.stats.Bootstrap;
import dev.kbx.stats.Design;
import dev.kbx.stats.Logistic;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * What several factors explain together, and each beyond the others.
 *
 * @param model with all main effects
 * @param resamples number of draws of tasks for its interval
 * @param interaction null if no two factors have candidates in each combination of their levels
 */
@JsonPropertyOrder({"factors", "model"})
public record JointDeviance(
    List<Part> factors,
    @JsonUnwrapped Explained model,
    int resamples,
    @Nullable Interaction interaction) {

  /**
   * One factor in the joint model.
   *
   * @param typeTwo what the deviance rises by without it, of the model of main effects
   * @param typeThree the same of the model with the interaction, in sum coding; null without one,
   *     or for a factor that is not in the interaction
   */
  public record Part(String factor, Test typeTwo, @Nullable Test typeThree) {}

  /**
   * A likelihood-ratio test.
   *
   * @param df 0 if the factor follows from the others; then there is no p
   * @param chi2 rise of the deviance; 0 where rounding makes it fall
   * @param share of the null deviance
   * @param low lower end of the share's 95 % interval
   */
  public record Test(
      int df,
      double chi2,
      @Nullable Double p,
      double share,
      @Nullable Double low,
      @Nullable Double high) {
    static Test of(
        double chi2, int df, double nullDeviance, Bootstrap.@Nullable Interval interval) {
      double rise = Math.max(0, chi2);
      return new Test(
          df,
          rise,
          df == 0 ? null : BinomialDeviance.pValue(rise, df),
          rise / nullDeviance,
          interval == null ? null : interval.low(),
          interval == null ? null : interval.high());
    }
  }

  /** The interaction of two factors. */
  public record Interaction(String first, String second, Test test) {}

  /**
   * The joint model.
   *
   * @param intervals of the shares of {@link Resamples}
   */
  static JointDeviance of(
      Factors joint, List<Bootstrap.@Nullable Interval> intervals, int resamples) {
    double[] passes = joint.counts().totalPasses();
    double[] trials = joint.counts().totalTrials();
    double rows = Arrays.stream(trials).sum();
    double nullDeviance = BinomialDeviance.ofAll(passes, trials);
    double full = Logistic.fit(joint.all(), passes, trials).deviance();
    int rank = joint.all().rank(trials);
    Pair pair = joint.pair();
    List<Part> parts = new ArrayList<>();
    for (int i = 0; i < joint.factors().size(); i++) {
      Design without = joint.without(i);
      double rise = Logistic.fit(without, passes, trials).deviance() - full;
      int df = rank - without.rank(trials);
      parts.add(
          new Part(
              joint.factors().get(i).name(),
              Test.of(rise, df, nullDeviance, intervals.get(i + 1)),
              pair == null || !pair.has(i)
                  ? null
                  : test(joint.withPair(i), joint.withPair(-1), joint, nullDeviance)));
    }
    return new JointDeviance(
        parts,
        Explained.of(full, nullDeviance, rank - 1, rows, false, intervals.getFirst()),
        resamples,
        pair == null
            ? null
            : new Interaction(
                joint.factors().get(pair.first()).name(),
                joint.factors().get(pair.second()).name(),
                test(joint.all(), joint.withPair(-1), joint, nullDeviance)));
  }

  private static Test test(Design small, Design large, Factors joint, double nullDeviance) {
    double[] passes = joint.counts().totalPasses();
    double[] trials = joint.counts().totalTrials();
    double rise =
        Logistic.fit(small, passes, trials).deviance()
            - Logistic.fit(large, passes, trials).deviance();
    return Test.of(rise, large.rank(trials) - small.rank(trials), nullDeviance, null);
  }

  /**
   * Fits a joint model to resampled tasks.
   *
   * @param designs of all main effects, then without each factor
   * @param starts coefficients of the fits to all tasks, where the others begin
   */
  record Resamples(CellCounts counts, List<Design> designs, List<Logistic> starts) {
    /** Convergence of these fits, whose spread is larger by far. */
    private static final double RESAMPLE_TOLERANCE = 1e-6;

    static Resamples of(Factors joint) {
      double[] passes = joint.counts().totalPasses();
      double[] trials = joint.counts().totalTrials();
      List<Design> designs = new ArrayList<>(List.of(joint.all()));
      for (int i = 0; i < joint.factors().size(); i++) designs.add(joint.without(i));
      return new Resamples(
          joint.counts(),
          designs,
          designs.stream()
              .map(design -> Logistic.fit(design, passes, trials, RESAMPLE_TOLERANCE))
              .toList());
    }

    /**
     * D² of all main effects, then the share of each factor beyond the others; NaN if all pass or
     * none.
     *
     * @param drawn how often each task counts
     */
    double[] shares(int[] drawn) {
      double[] passes = new double[counts.cells()];
      double[] trials = new double[passes.length];
      counts.sum(drawn, passes, trials);
      double[] shares = new double[designs.size()];
      double nullDeviance = BinomialDeviance.ofAll(passes, trials);
      if (nullDeviance == 0) {
        Arrays.fill(shares, Double.NaN);
        return shares;
      }
      double full = deviance(0, passes, trials);
      shares[0] = 1 - full / nullDeviance;
      for (int i = 1; i < shares.length; i++) {
        shares[i] = (deviance(i, passes, trials) - full) / nullDeviance;
      }
      return shares;
    }

    private double deviance(int model, double[] passes, double[] trials) {
      return starts
          .get(model)
          .again(designs.get(model), passes, trials, RESAMPLE_TOLERANCE)
          .deviance();
    }
  }

  /**
   * The factors of a joint model with the counts of each combination of their levels that occurs.
   *
   * @param levels level by factor and cell
   * @param pair the factors of the interaction; null if there is none
   */
  record Factors(List<Factor> factors, CellCounts counts, List<int[]> levels, @Nullable Pair pair) {
    /** More coefficients of an interaction take long and say little. */
    private static final int MOST_COMBINATIONS = 150;

    /** Indices of two factors. */
    record Pair(int first, int second) {
      boolean has(int factor) {
        return factor == first || factor == second;
      }
    }

    static Factors of(List<Factor> factors, Trials trials) {
      Map<Long, Integer> numbers = new HashMap<>();
      int[] cellOf = new int[trials.count()];
      List<Integer> rows = new ArrayList<>(); // The first of each cell.
      for (int i = 0; i < cellOf.length; i++) {
        int row = trials.row(i);
        long combination = 0;
        for (Factor factor : factors) {
          combination = combination * factor.levels().size() + factor.level(row);
        }
        Integer known = numbers.putIfAbsent(combination, rows.size());
        cellOf[i] = known == null ? rows.size() : known;
        if (known == null) rows.add(row);
      }
      List<int[]> levels =
          factors.stream().map(factor -> rows.stream().mapToInt(factor::level).toArray()).toList();
      CellCounts counts = CellCounts.of(trials, rows.size(), i -> cellOf[i]);
      return new Factors(factors, counts, levels, pair(factors, levels));
    }

    /** The first factor of tasks and the first of attempts, if all their combinations occur. */
    private static @Nullable Pair pair(List<Factor> factors, List<int[]> levels) {
      for (int i = 0; i < factors.size(); i++) {
        for (int j = i + 1; j < factors.size(); j++) {
          if (!factors.get(i).ofTasks() || factors.get(j).ofTasks()) continue;
          int[] first = levels.get(i);
          int[] second = levels.get(j);
          int many = factors.get(j).levels().size();
          int combinations = factors.get(i).levels().size() * many;
          long occurring =
              IntStream.range(0, first.length)
                  .map(cell -> first[cell] * many + second[cell])
                  .distinct()
                  .count();
          if (occurring == combinations && combinations <= MOST_COMBINATIONS) return new Pair(i, j);
        }
      }
      return null;
    }

    /** All main effects, in treatment coding. */
    Design all() {
      return without(-1);
    }

    /** All but one; all for −1. */
    Design without(int left) {
      return over(IntStream.range(0, counts.cells()).toArray(), left);
    }

    /**
     * All but one.
     *
     * @param cells the cell of each row of the design
     */
    Design over(int[] cells, int left) {
      Design design = Design.intercept(cells.length);
      for (int i = 0; i < factors.size(); i++) {
        int[] own = levels.get(i);
        int[] column = IntStream.of(cells).map(cell -> own[cell]).toArray();
        if (i != left) design = design.with(column, factors.get(i).levels().size());
      }
      return design;
    }

    /** All main effects but one, and the interaction, in sum coding. */
    Design withPair(int left) {
      if (pair == null) throw new IllegalStateException("no interaction");
      Design design = Design.intercept(counts.cells());
      for (int i = 0; i < factors.size(); i++) {
        if (i != left) design = design.withSums(levels.get(i), factors.get(i).levels().size());
      }
      return design.withInteraction(
          levels.get(pair.first()),
          factors.get(pair.first()).levels().size(),
          levels.get(pair.second()),
          factors.get(pair.second()).levels().size());
    }
  }
}
