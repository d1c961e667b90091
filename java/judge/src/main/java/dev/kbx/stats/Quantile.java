package dev.kbx.stats;

import java.util.Arrays;

/**
 * Sample quantiles by linear interpolation: definition 7 of R. J. Hyndman and Y. Fan, "Sample
 * quantiles in statistical packages", The American Statistician 50 (1996) 361–365.
 */
public final class Quantile {
  private Quantile() {}

  /**
   * The value below which a part of the sample lies.
   *
   * @param values at least one
   * @param part from 0, the smallest, to 1, the largest
   */
  public static double of(double[] values, double part) {
    if (values.length == 0) throw new IllegalArgumentException("no values");
    if (!(part >= 0 && part <= 1)) throw new IllegalArgumentException("no part: " + part);
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    double place = part * (sorted.length - 1);
    int below = (int) place;
    int above = Math.min(below + 1, sorted.length - 1);
    return sorted[below] + (place - below) * (sorted[above] - sorted[below]);
  }
}
