package dev.kbx.stats;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Bootstrap of shares over units in strata, such as tasks in categories: as many units are drawn of
 * each stratum as it has. A. C. Davison and D. V. Hinkley, "Bootstrap Methods and their
 * Application" (1997), section 3.2. Units are drawn with all their rows, so that rows of one unit
 * may depend on each other.
 *
 * <p>Drawing some units twice and others never makes groups differ more than they do, so that
 * explained shares of resamples are too large on average. Their percentiles are lowered by this
 * bias, the mean of the resamples less the observed value (B. Efron and R. J. Tibshirani, "An
 * Introduction to the Bootstrap" (1993), section 10.2), but not below 0.
 */
public final class StratifiedBootstrap {
  private final int[][] strata;
  private final int[] stratumOf;

  /**
   * Units with their strata.
   *
   * @param stratumOf stratum of each unit, from 0
   */
  public StratifiedBootstrap(int[] stratumOf) {
    this.stratumOf = stratumOf.clone();
    int[] sizes = new int[Arrays.stream(stratumOf).max().orElse(-1) + 1];
    for (int stratum : stratumOf) sizes[stratum]++;
    strata = new int[sizes.length][];
    Arrays.setAll(strata, stratum -> new int[sizes[stratum]]);
    for (int unit = 0; unit < stratumOf.length; unit++) {
      strata[stratumOf[unit]][--sizes[stratumOf[unit]]] = unit;
    }
  }

  /** Strata of one unit, which is in every resample once: they add no spread. */
  public int lone() {
    return (int) Arrays.stream(strata).filter(units -> units.length == 1).count();
  }

  /**
   * The 95 % interval of each share; null where it has no value in a resample in twenty or more.
   *
   * @param shares their values from 0 to 1, given how often each unit was drawn; NaN if there is
   *     none. It must not keep the array.
   */
  public List<Bootstrap.@Nullable Interval> intervals(
      int resamples, Function<int[], double[]> shares) {
    var random = new SplittableRandom(Bootstrap.SEED);
    int[] drawn = new int[stratumOf.length];
    double[][] values = new double[resamples][];
    for (int i = 0; i < resamples; i++) {
      draw(random, drawn);
      values[i] = shares.apply(drawn);
    }
    Arrays.fill(drawn, 1);
    double[] observed = shares.apply(drawn);
    List<Bootstrap.@Nullable Interval> intervals = new ArrayList<>();
    for (int i = 0; i < observed.length; i++) {
      int statistic = i;
      double[] known =
          Arrays.stream(values)
              .mapToDouble(each -> each[statistic])
              .filter(value -> !Double.isNaN(value))
              .sorted()
              .toArray();
      intervals.add(interval(known, observed[i], resamples));
    }
    return intervals;
  }

  private static Bootstrap.@Nullable Interval interval(
      double[] sorted, double observed, int resamples) {
    if (sorted.length < resamples - resamples / 20) return null;
    double bias = Arrays.stream(sorted).average().orElseThrow() - observed;
    int tail = sorted.length / 40;
    return new Bootstrap.Interval(
        Math.clamp(sorted[Math.max(0, tail - 1)] - bias, 0, 1),
        Math.clamp(sorted[sorted.length - Math.max(1, tail)] - bias, 0, 1));
  }

  private void draw(SplittableRandom random, int[] drawn) {
    Arrays.fill(drawn, 0);
    for (int[] units : strata) {
      for (int i = 0; i < units.length; i++) drawn[units[random.nextInt(units.length)]]++;
    }
  }
}
