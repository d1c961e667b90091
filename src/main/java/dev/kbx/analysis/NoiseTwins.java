package dev.kbx.analysis;

import dev.kbx.stats.Quantile;
import dev.kbx.stats.Ratio;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A kernel and its twin that moves 3 % more bytes, judged apart: is the difference told?
 *
 * @param trueRatio of their times, by the bytes they move
 * @param median of the measured ratio
 * @param told tries in which the ratio's interval excludes 1 on the right side
 * @param cover tries in which it holds the true ratio
 */
public record NoiseTwins(
    double trueRatio, double median, NoiseShare told, NoiseShare cover, List<Try> tries) {
  /** {@code 1 + EXTRA} of the twin's source. */
  static final double TRUE_RATIO = 1.03;

  public NoiseTwins {
    tries = List.copyOf(tries);
  }

  /** One size of both twins: how many times as fast the plain one is. */
  public record Try(String shape, int repeat, double ratio, double low, double high) {
    Ratio asRatio() {
      return new Ratio(ratio, low, high);
    }
  }

  /**
   * Pairs rows of the same device, size and repeat; empty where there is no pair.
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
