package dev.kbx.stats;

import java.util.List;
import org.apache.commons.statistics.distribution.NormalDistribution;

/**
 * Spread of one kernel's speedups on several devices: the largest over the smallest.
 *
 * <p>The estimate is biased upwards, as the largest of noisy values is selected. The interval
 * allows for this selection. All pairs of devices get the interval of {@link Ratio#over}, so wide
 * (C. E. Bonferroni; O. J. Dunn, "Multiple comparisons among means", JASA 56 (1961) 52–64) that
 * with 95 % confidence all true ratios lie in their intervals. Then the true largest ÷ smallest,
 * being one of the pairs, lies between the largest of the lower ends and the largest of the upper
 * ends, and never below 1. The widening uses normal quantiles, as a 95 % interval does not tell its
 * degrees of freedom.
 *
 * @param value observed largest ÷ smallest
 * @param low lower end of the 95 % interval, at least 1; above 1, the devices differ
 * @param high upper end
 * @param smallest index of the device with the smallest speedup
 * @param largest index of the device with the largest one
 */
public record Spread(double value, double low, double high, int smallest, int largest) {
  private static final double TAIL = 0.025;

  /** The spread of one speedup a device, at least two, with their 95 % intervals. */
  public static Spread of(List<Ratio> speedups) {
    if (speedups.size() < 2) throw new IllegalArgumentException("a spread needs two devices");
    double wider = widening(speedups.size() * (speedups.size() - 1) / 2);
    List<Ratio> wide = speedups.stream().map(speedup -> widened(speedup, wider)).toList();
    double low = 1;
    double high = 1;
    int smallest = 0;
    int largest = 0;
    for (int i = 0; i < speedups.size(); i++) {
      if (speedups.get(i).value() < speedups.get(smallest).value()) smallest = i;
      if (speedups.get(i).value() > speedups.get(largest).value()) largest = i;
      for (int j = 0; j < speedups.size(); j++) {
        if (i == j) continue;
        Ratio pair = wide.get(i).over(wide.get(j));
        low = Math.max(low, pair.low());
        high = Math.max(high, pair.high());
      }
    }
    double value = speedups.get(largest).value() / speedups.get(smallest).value();
    return new Spread(value, low, high, smallest, largest);
  }

  /** Whether the devices differ by more than the intervals explain. */
  public boolean toldApart() {
    return low > 1;
  }

  /** Multiplies both distances to the ends, as logarithms. */
  private static Ratio widened(Ratio ratio, double wider) {
    return new Ratio(
        ratio.value(),
        ratio.value() * Math.pow(ratio.low() / ratio.value(), wider),
        ratio.value() * Math.pow(ratio.high() / ratio.value(), wider));
  }

  private static double widening(int pairs) {
    var normal = NormalDistribution.of(0, 1);
    return normal.inverseSurvivalProbability(TAIL / pairs)
        / normal.inverseSurvivalProbability(TAIL);
  }
}
