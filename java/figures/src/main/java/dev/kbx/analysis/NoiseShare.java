package dev.kbx.analysis;

import dev.kbx.stats.Rate;
import java.util.List;
import java.util.function.Predicate;

/** A share, with its Wilson 95 % interval. */
public record NoiseShare(long count, long of, double share, double low, double high) {
  /** The share of rows (at least one) that satisfy a condition. */
  static <T> NoiseShare of(List<T> rows, Predicate<T> holds) {
    Rate rate = new Rate(rows.stream().filter(holds).count(), rows.size());
    return new NoiseShare(rate.passes(), rate.total(), rate.value(), rate.low(), rate.high());
  }
}
