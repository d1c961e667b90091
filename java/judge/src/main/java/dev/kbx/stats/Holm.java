package dev.kbx.stats;

import java.util.Comparator;
import java.util.stream.IntStream;

/**
 * Adjusts p values for several tests, so that with 95 % confidence none below 0.05 is by chance: S.
 * Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of
 * Statistics 6 (1979) 65–70.
 */
public final class Holm {
  private Holm() {}

  /** The adjusted values, in the order given. */
  public static double[] adjust(double[] pValues) {
    int[] order =
        IntStream.range(0, pValues.length)
            .boxed()
            .sorted(Comparator.comparingDouble(i -> pValues[i]))
            .mapToInt(Integer::intValue)
            .toArray();
    double[] adjusted = new double[pValues.length];
    double largest = 0;
    for (int rank = 0; rank < order.length; rank++) {
      largest = Math.max(largest, (order.length - rank) * pValues[order[rank]]);
      adjusted[order[rank]] = Math.min(1, largest);
    }
    return adjusted;
  }
}
