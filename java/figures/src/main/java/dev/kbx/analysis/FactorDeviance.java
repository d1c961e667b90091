package dev.kbx.analysis;

import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import dev.kbx.stats.BinomialDeviance;
import dev.kbx.stats.Bootstrap;
import dev.kbx.stats.Design;
import dev.kbx.stats.Firth;
import dev.kbx.stats.PermutationTest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * What one factor alone explains of an outcome: D² = 1 − D(factor) ÷ D(null) of a logistic
 * regression, McFadden's R² on rows of 0 and 1. D. McFadden, "Conditional logit analysis of
 * qualitative choice behavior", in P. Zarembka (ed.), Frontiers in Econometrics (1974), section 3.
 *
 * @param ofTasks whether it groups tasks; otherwise attempts at a task
 * @param model of the factor alone
 * @param permutation the same without a model; {@code expected} is a share here
 * @param firth null unless a level passes or fails without exception
 * @param unsolved levels in which nothing passes
 * @param withoutUnsolved D² of the other levels alone; null if there is no such level, or less than
 *     two others
 */
@JsonPropertyOrder({"factor", "of_tasks", "levels", "model"})
public record FactorDeviance(
    String factor,
    boolean ofTasks,
    List<Level> levels,
    @JsonUnwrapped Explained model,
    PermutationTest permutation,
    @Nullable Penalised firth,
    List<String> unsolved,
    @Nullable Double withoutUnsolved) {

  /** A level with its counts. */
  public record Level(String name, int passes, int trials) {}

  /**
   * By Firth's penalised likelihood.
   *
   * @param explained D² at its estimates
   * @param chi2 penalised likelihood-ratio statistic
   */
  public record Penalised(double explained, double chi2, double p) {
    static Penalised of(Design design, double[] passes, double[] trials, double nullDeviance) {
      Firth fit = Firth.fit(design, passes, trials);
      Firth none = Firth.fit(design, passes, trials, 1);
      double chi2 = 2 * (fit.penalised() - none.penalised());
      return new Penalised(
          1 - fit.deviance() / nullDeviance,
          chi2,
          BinomialDeviance.pValue(chi2, design.columns() - 1));
    }
  }

  static FactorDeviance of(
      Factor factor,
      Trials trials,
      CellCounts counts,
      Bootstrap.@Nullable Interval interval,
      int permutations) {
    double[] passes = counts.totalPasses();
    double[] all = counts.totalTrials();
    int[] used = IntStream.range(0, all.length).filter(i -> all[i] > 0).toArray();
    double nullDeviance = BinomialDeviance.ofAll(passes, all);
    double deviance = BinomialDeviance.ofGroups(passes, all);
    PermutationTest test = permute(factor, trials, permutations);
    boolean exact = Arrays.stream(used).anyMatch(i -> passes[i] == 0 || passes[i] == all[i]);
    return new FactorDeviance(
        factor.name(),
        factor.ofTasks(),
        levels(factor, used, passes, all),
        Explained.of(deviance, nullDeviance, used.length - 1, trials.count(), true, interval),
        new PermutationTest(test.pValue(), test.expected() / nullDeviance, test.permutations()),
        exact ? firth(used, passes, all, nullDeviance) : null,
        Arrays.stream(used).filter(i -> passes[i] == 0).mapToObj(factor.levels()::get).toList(),
        withoutUnsolved(used, passes, all));
  }

  /** D² with these counts, not below 0 by rounding; NaN if all pass or none. */
  static double share(double[] passes, double[] trials) {
    double nullDeviance = BinomialDeviance.ofAll(passes, trials);
    return nullDeviance == 0
        ? Double.NaN
        : Math.max(0, 1 - BinomialDeviance.ofGroups(passes, trials) / nullDeviance);
  }

  private static List<Level> levels(Factor factor, int[] used, double[] passes, double[] all) {
    List<Level> levels = new ArrayList<>();
    for (int i : used) levels.add(new Level(factor.levels().get(i), (int) passes[i], (int) all[i]));
    return levels;
  }

  private static Penalised firth(int[] used, double[] passes, double[] all, double nullDeviance) {
    double[] ownPasses = Arrays.stream(used).mapToDouble(i -> passes[i]).toArray();
    double[] ownTrials = Arrays.stream(used).mapToDouble(i -> all[i]).toArray();
    int[] levels = IntStream.range(0, used.length).toArray();
    Design design = Design.intercept(used.length).with(levels, used.length);
    return Penalised.of(design, ownPasses, ownTrials, nullDeviance);
  }

  private static @Nullable Double withoutUnsolved(int[] used, double[] passes, double[] all) {
    int[] solved = Arrays.stream(used).filter(i -> passes[i] > 0).toArray();
    if (solved.length == used.length || solved.length < 2) return null;
    double share =
        share(
            Arrays.stream(solved).mapToDouble(i -> passes[i]).toArray(),
            Arrays.stream(solved).mapToDouble(i -> all[i]).toArray());
    return Double.isNaN(share) ? null : share;
  }

  private static PermutationTest permute(Factor factor, Trials trials, int permutations) {
    int count = factor.levels().size();
    return factor.ofTasks()
        ? permuteTasks(factor, trials, count, permutations)
        : permuteRows(factor, trials, count, permutations);
  }

  private static PermutationTest permuteTasks(
      Factor factor, Trials trials, int count, int permutations) {
    int[] levels = new int[trials.taskCount()];
    double[] passes = new double[levels.length];
    double[] all = new double[levels.length];
    for (int i = 0; i < trials.count(); i++) {
      levels[trials.task(i)] = factor.level(trials.row(i));
      all[trials.task(i)]++;
      if (trials.passes(i)) passes[trials.task(i)]++;
    }
    return PermutationTest.betweenUnits(levels, count, passes, all, permutations);
  }

  private static PermutationTest permuteRows(
      Factor factor, Trials trials, int count, int permutations) {
    int[] all = new int[trials.taskCount()];
    int[] passing = new int[trials.taskCount()];
    for (int i = 0; i < trials.count(); i++) {
      all[trials.task(i)]++;
      if (trials.passes(i)) passing[trials.task(i)]++;
    }
    int[][] levels = new int[all.length][];
    Arrays.setAll(levels, task -> new int[all[task]]);
    int[] front = new int[all.length];
    int[] back = passing.clone();
    for (int i = 0; i < trials.count(); i++) {
      int task = trials.task(i);
      int place = trials.passes(i) ? front[task]++ : back[task]++;
      levels[task][place] = factor.level(trials.row(i));
    }
    return PermutationTest.withinUnits(levels, passing, count, permutations);
  }
}
