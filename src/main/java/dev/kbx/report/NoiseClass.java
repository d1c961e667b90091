package dev.kbx.report;

import dev.kbx.stats.Quantile;
import java.util.List;
import java.util.Optional;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;

/**
 * References against themselves, at sizes that take about the same time.
 *
 * @param name {@code 50-500 us}
 * @param sizes different sizes
 * @param rows measurements of them
 * @param median of |log speedup|, as are the next three
 * @param withinOnePercent rows whose speedup is between 0.99 and 1.01
 * @param cover rows whose interval holds 1
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
  /** Milliseconds from which on a size is timed until its interval is within 1 %. */
  static final double LONG_MS = 0.05;

  private static final double ONE_PERCENT = 0.01;

  /** Bounds of a class: milliseconds, the upper one not included. */
  private record Bounds(String name, double from, double to) {
    boolean hold(NoiseRow row) {
      return from <= row.ms() && row.ms() < to;
    }
  }

  private static final List<Bounds> CLASSES =
      List.of(
          new Bounds("< 10 us", 0, 0.01),
          new Bounds("10-50 us", 0.01, LONG_MS),
          new Bounds("50-500 us", LONG_MS, 0.5),
          new Bounds("> 500 us", 0.5, Double.POSITIVE_INFINITY));

  private static final Bounds LONG = new Bounds(">= 50 us", LONG_MS, Double.POSITIVE_INFINITY);

  /** The classes that have rows, and last all sizes of {@link #LONG_MS} and more. */
  static List<NoiseClass> of(List<NoiseRow> rows) {
    return Stream.concat(CLASSES.stream(), Stream.of(LONG))
        .flatMap(bounds -> of(bounds, rows).stream())
        .toList();
  }

  /** All sizes of {@link #LONG_MS} and more, if there are any. */
  static Optional<NoiseClass> ofLong(List<NoiseRow> rows) {
    return of(LONG, rows);
  }

  private static Optional<NoiseClass> of(Bounds bounds, List<NoiseRow> all) {
    List<NoiseRow> rows = all.stream().filter(bounds::hold).toList();
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
