package dev.kbx.timing;

import static java.util.Objects.requireNonNull;

import dev.kbx.plan.Baseline;
import dev.kbx.stats.Ratio;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Times of a task's {@code torch.compile}d reference on one device.
 *
 * @param kind how it was compiled
 * @param sizes the task's benchmark sizes, in order; empty if there is no such baseline
 * @param failure why there is none; null if there is one
 */
record CompiledTimes(Baseline kind, List<Size> sizes, @Nullable String failure) {
  /**
   * One benchmark size.
   *
   * @param shape the size in words, as the task names it
   * @param eagerMs median device time of the reference, milliseconds
   * @param compiledMs the same of the compiled one
   * @param ratio eager over compiled, with its 95 % interval
   * @param rounds number of rounds behind the interval
   * @param measured end of the measurement
   * @param raw the rounds, in the form of {@link RawRounds}; eager is the reference
   */
  record Size(
      String shape,
      double eagerMs,
      double compiledMs,
      Ratio ratio,
      int rounds,
      Instant measured,
      String raw) {
    Size {
      requireNonNull(raw, "times have their rounds"); // A file of an earlier version has none.
      if (!positive(eagerMs) || !positive(compiledMs) || !positive(ratio.value())) {
        throw new IllegalArgumentException("times are positive numbers");
      }
      if (!(ratio.low() <= ratio.value() && ratio.value() <= ratio.high())) {
        throw new IllegalArgumentException("a ratio lies in its interval");
      }
    }

    private static boolean positive(double value) {
      return value > 0 && value < Double.POSITIVE_INFINITY;
    }
  }

  CompiledTimes {
    sizes = List.copyOf(sizes);
  }

  static CompiledTimes absent(Baseline kind, @Nullable String why) {
    return new CompiledTimes(kind, List.of(), why == null ? "no reason was given" : why);
  }

  boolean present() {
    return failure == null;
  }

  /** Eager over compiled, of each size. */
  List<Ratio> ratios() {
    return sizes.stream().map(Size::ratio).toList();
  }
}
