package dev.kbx.analysis;

import dev.kbx.stats.Quantile;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;

/**
 * Timings of references against themselves, at sizes of similar duration.
 *
 * @param name {@code 50-500 us}
 * @param sizes number of different sizes
 * @param rows number of measurements
 * @param median of |log speedup|, as are the next three
 * @param withinOnePercent rows whose speedup is between 0.99 and 1.01
 * @param cover rows whose interval contains 1
 * @param halfWidth median half width of the intervals, in logarithms
 * @param narrow rows whose interval is within 1 %
 * @param rounds mean rounds of a row
 */
public record NoiseClass(
    String name,
    int sizes,
    int rows,
    double median,
    double p90,
    double p95,
    double largest,
    NoiseShare withinOnePercent,
    NoiseShare cover,
    double halfWidth,
    NoiseShare narrow,
    double rounds) {
  /** Sizes of at least so many milliseconds are timed until their interval is within 1 %. */
  static final double LONG_MS = 0.05;

  private static final double ONE_PERCENT = 0.01;

  /** Selects the rows of a class. */
  private record Bounds(String name, Predicate<NoiseRow> hold) {
    /** From so many milliseconds (inclusive) to so many (exclusive). */
    static Bounds of(String name, double from, double to) {
      return new Bounds(name, row -> from <= row.ms() && row.ms() < to);
    }
  }

  private static final Bounds DEVICE =
      new Bounds("- device", row -> row.isLong() && row.deviceAlone());

  private static final List<Bounds> CLASSES =
      List.of(
          Bounds.of("< 10 us", 0, 0.01),
          Bounds.of("10-50 us", 0.01, LONG_MS),
          Bounds.of("50-500 us", LONG_MS, 0.5),
          Bounds.of("> 500 us", 0.5, Double.POSITIVE_INFINITY),
          new Bounds(">= 50 us", NoiseRow::isLong),
          DEVICE,
          new Bounds("- host", row -> row.isLong() && !row.deviceAlone()));

  /**
   * The non-empty classes: by duration; all sizes of at least {@link #LONG_MS}; of these the
   * device-bound and the host-bound ones.
   */
  static List<NoiseClass> of(List<NoiseRow> rows) {
    return CLASSES.stream().flatMap(bounds -> of(bounds, rows).stream()).toList();
  }

  /** Device-bound sizes of at least {@link #LONG_MS}, if any. */
  public static Optional<NoiseClass> ofDevice(List<NoiseRow> rows) {
    return of(DEVICE, rows);
  }

  private static Optional<NoiseClass> of(Bounds bounds, List<NoiseRow> all) {
    List<NoiseRow> rows = all.stream().filter(bounds.hold()).toList();
    if (rows.isEmpty()) return Optional.empty();
    double[] distances = values(rows, NoiseRow::distance);
    return Optional.of(
        new NoiseClass(
            bounds.name(),
            (int) rows.stream().map(NoiseRow::size).distinct().count(),
            rows.size(),
            Quantile.of(distances, 0.5),
            Quantile.of(distances, 0.9),
            Quantile.of(distances, 0.95),
            Quantile.of(distances, 1),
            NoiseShare.of(rows, row -> Math.abs(row.speedup() - 1) <= ONE_PERCENT),
            NoiseShare.of(rows, row -> row.ratio().covers(1)),
            Quantile.of(values(rows, NoiseRow::halfWidth), 0.5),
            NoiseShare.of(rows, row -> row.halfWidth() <= ONE_PERCENT),
            rows.stream().mapToInt(NoiseRow::rounds).average().orElseThrow()));
  }

  private static double[] values(List<NoiseRow> rows, ToDoubleFunction<NoiseRow> of) {
    return rows.stream().mapToDouble(of).toArray();
  }
}
