package dev.kbx.analysis;

import dev.kbx.stats.Quantile;
import dev.kbx.stats.Ratio;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Whether the measurements tell a kernel from its twin, which moves 3 % more bytes.
 *
 * @param trueRatio ratio of their times according to the bytes moved
 * @param median of the measured ratio
 * @param told tries whose interval excludes 1 in the right direction
 * @param cover tries whose interval contains the true ratio
 */
public record NoiseTwins(
    double trueRatio, double median, NoiseShare told, NoiseShare cover, List<Try> tries) {
  /** {@code 1 + EXTRA} of the twin's source. */
  static final double TRUE_RATIO = 1.03;

  public NoiseTwins {
    tries = List.copyOf(tries);
  }

  /** One size of both twins; the ratio is the twin's time over the plain kernel's. */
  public record Try(String shape, int repeat, double ratio, double low, double high) {
    Ratio asRatio() {
      return new Ratio(ratio, low, high);
    }
  }

  /**
   * Pairs rows of the same device, size and repetition; empty without a pair.
   *
   * @param plain rows of the kernel
   * @param slowed rows of its twin
   */
  static Optional<NoiseTwins> of(List<NoiseRow> plain, List<NoiseRow> slowed) {
    List<Try> tries = new ArrayList<>();
    for (NoiseRow row : plain) {
      slowed.stream().filter(row::isTwin).map(twin -> compared(row, twin)).forEach(tries::add);
    }
    if (tries.isEmpty()) return Optional.empty();
    return Optional.of(
        new NoiseTwins(
            TRUE_RATIO,
            Quantile.of(tries.stream().mapToDouble(Try::ratio).toArray(), 0.5),
            NoiseShare.of(tries, t -> t.low() > 1),
            NoiseShare.of(tries, t -> t.asRatio().covers(TRUE_RATIO)),
            tries));
  }

  private static Try compared(NoiseRow plain, NoiseRow slowed) {
    Ratio ratio = plain.ratio().over(slowed.ratio());
    return new Try(plain.shape(), plain.repeat(), ratio.value(), ratio.low(), ratio.high());
  }
}
