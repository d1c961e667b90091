package dev.kbx.stats;

import java.util.Arrays;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.function.ToDoubleFunction;

/**
 * Whether a factor explains more deviance than the same labels dealt at random: a test without a
 * model of how rows depend on each other. The observed labels count as one of the random ones: B.
 * Phipson and G. K. Smyth, "Permutation p-values should never be zero", SAGMB 9 (2010) 39.
 *
 * @param pValue probability of explaining at least as much with random labels
 * @param expected mean explained deviance with random labels: what a grouping of these sizes
 *     explains by chance
 * @param permutations number of random labellings
 */
public record PermutationTest(double pValue, double expected, int permutations) {
  /** Explained deviances that differ by less are equal. */
  private static final double EQUAL = 1e-9;

  /**
   * For a factor that is constant within a unit, such as the category of a task: deals labels to
   * units.
   *
   * @param levels level of each unit, from 0
   * @param count number of levels
   * @param passes passes of each unit
   * @param trials trials of each unit
   */
  public static PermutationTest betweenUnits(
      int[] levels, int count, double[] passes, double[] trials, int permutations) {
    double[] pass = new double[count];
    double[] all = new double[count];
    int[] dealt = levels.clone();
    return test(
        BinomialDeviance.ofAll(passes, trials),
        permutations,
        random -> {
          random.ifPresent(source -> shuffle(dealt, dealt.length, source));
          Arrays.fill(pass, 0);
          Arrays.fill(all, 0);
          for (int unit = 0; unit < dealt.length; unit++) {
            pass[dealt[unit]] += passes[unit];
            all[dealt[unit]] += trials[unit];
          }
          return BinomialDeviance.ofGroups(pass, all);
        });
  }

  /**
   * For a factor that varies within units, such as the method on a task: deals the passes of each
   * unit to its rows.
   *
   * @param levels level of each row of each unit; the rows that pass come first
   * @param passing number of these, for each unit
   * @param count number of levels
   */
  public static PermutationTest withinUnits(
      int[][] levels, int[] passing, int count, int permutations) {
    double[] all = new double[count];
    for (int[] unit : levels) for (int level : unit) all[level]++;
    int[][] dealt = new int[levels.length][];
    Arrays.setAll(dealt, unit -> levels[unit].clone());
    double[] pass = new double[count];
    double passes = Arrays.stream(passing).sum();
    return test(
        BinomialDeviance.of(passes, Arrays.stream(all).sum()),
        permutations,
        random -> {
          Arrays.fill(pass, 0);
          for (int unit = 0; unit < dealt.length; unit++) {
            if (random.isPresent()) shuffle(dealt[unit], passing[unit], random.get());
            for (int row = 0; row < passing[unit]; row++) pass[dealt[unit][row]]++;
          }
          return BinomialDeviance.ofGroups(pass, all);
        });
  }

  /**
   * Runs the test.
   *
   * @param deviance deviance with labels dealt by a source of randomness; asked first without one,
   *     for the observed labels
   */
  private static PermutationTest test(
      double nullDeviance,
      int permutations,
      ToDoubleFunction<Optional<SplittableRandom>> deviance) {
    double explained = nullDeviance - deviance.applyAsDouble(Optional.empty());
    var random = Optional.of(new SplittableRandom(Bootstrap.SEED));
    int asMuch = 0;
    double sum = 0;
    for (int i = 0; i < permutations; i++) {
      double byChance = nullDeviance - deviance.applyAsDouble(random);
      if (byChance >= explained - EQUAL) asMuch++;
      sum += byChance;
    }
    return new PermutationTest(
        (asMuch + 1.0) / (permutations + 1), sum / permutations, permutations);
  }

  /** Puts a random choice of the values first, {@code chosen} of them, in random order. */
  private static void shuffle(int[] values, int chosen, SplittableRandom random) {
    for (int i = 0; i < chosen && i < values.length - 1; i++) {
      int other = i + Bootstrap.below(values.length - i, random);
      int value = values[i];
      values[i] = values[other];
      values[other] = value;
    }
  }
}
