package dev.kbx.analysis;

import dev.kbx.stats.Quantile;
import dev.kbx.stats.Rate;
import dev.kbx.stats.Ratio;
import dev.kbx.verdict.NoiseFloor;
import dev.kbx.verdict.Verdict;
import dev.kbx.verdict.Verdict.SizeTiming;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Result of {@code kbx bench noise}, as in {@code noise.json}.
 *
 * @param classes sizes by duration, then all that are timed to 1 %
 * @param devices the measured devices
 * @param floors noise floors of the devices with enough measured sizes
 * @param twins null if none were judged
 * @param untimed why references were not timed
 * @param missing candidates not judged before an interrupt; null if all were
 * @param rows every measurement of a reference
 */
public record NoiseReport(
    List<Verdict.Device> devices,
    Map<String, String> versions,
    Instant measured,
    List<SizeClass> classes,
    List<NoiseFloor> floors,
    @Nullable Twins twins,
    List<String> untimed,
    @Nullable Integer missing,
    List<Row> rows) {
  /** Minimum number of different sizes for a noise floor. */
  public static final int LEAST_SIZES = 20;

  public NoiseReport {
    devices = List.copyOf(devices);
    versions = Map.copyOf(versions);
    floors = List.copyOf(floors);
    classes = List.copyOf(classes);
    untimed = List.copyOf(untimed);
    rows = List.copyOf(rows);
  }

  /**
   * Computes the figures.
   *
   * @param references verdicts on references judged as candidates
   * @param plain verdicts on the kernel that has a twin
   * @param slowed verdicts on that twin
   */
  public static NoiseReport of(
      Map<String, String> versions,
      Instant measured,
      List<Verdict> references,
      List<Verdict> plain,
      List<Verdict> slowed) {
    List<Verdict> all = Stream.of(references, plain, slowed).flatMap(List::stream).toList();
    List<Verdict.Device> devices =
        all.stream().map(v -> v.judgement().device()).distinct().toList();
    List<Row> rows = rows(references);
    return new NoiseReport(
        devices,
        versions,
        measured,
        SizeClass.of(rows),
        devices.stream().flatMap(d -> floor(d, versions, measured, rows).stream()).toList(),
        Twins.of(rows(plain), rows(slowed)).orElse(null),
        all.stream()
            .filter(verdict -> verdict.judgement().sizes() == null)
            .map(NoiseReport::reason)
            .distinct()
            .toList(),
        null,
        rows);
  }

  /** This report for an interrupted run, without noise floors. */
  public NoiseReport cutOff(int without) {
    return new NoiseReport(
        devices, versions, measured, classes, List.of(), twins, untimed, without, rows);
  }

  private static List<Row> rows(List<Verdict> verdicts) {
    return verdicts.stream().flatMap(verdict -> Row.of(verdict).stream()).toList();
  }

  private static Optional<NoiseFloor> floor(
      Verdict.Device device, Map<String, String> versions, Instant measured, List<Row> rows) {
    List<Row> own =
        rows.stream().filter(row -> Objects.equals(row.device(), device.uuid())).toList();
    return SizeClass.ofDevice(own)
        .filter(all -> all.sizes() >= LEAST_SIZES)
        .map(all ->
            new NoiseFloor(
                device,
                versions,
                measured,
                Math.expm1(all.p95()),
                SizeClass.LONG_MS,
                all.sizes(),
                all.rows()));
  }

  private static String reason(Verdict verdict) {
    // The message of a policy is only advice.
    String why =
        verdict.judgement().evidence() == null
            ? verdict.judgement().message()
            : verdict.judgement().evidence();
    return "%s/%s: %s%s"
        .formatted(
            verdict.provenance().category(),
            verdict.provenance().task(),
            verdict.judgement().status().label(),
            why == null ? "" : ": " + why);
  }

  /** A share, with its Wilson 95 % interval. */
  public record Share(long count, long of, double share, double low, double high) {
    /** The share of rows (at least one) that satisfy a condition. */
    static <T> Share of(List<T> rows, Predicate<T> holds) {
      Rate rate = new Rate(rows.stream().filter(holds).count(), rows.size());
      return new Share(rate.passes(), rate.total(), rate.value(), rate.low(), rate.high());
    }
  }

  /**
   * One size, timed once by {@code kbx bench noise}.
   *
   * @param device UUID of the GPU
   * @param task {@code Category/name}
   * @param repeat number of the repetition of this task, from 0
   * @param rounds measuring rounds of the interval
   * @param hostBound as in {@link SizeTiming}
   */
  public record Row(
      @Nullable String device,
      String task,
      String shape,
      int repeat,
      double candidateMs,
      double referenceMs,
      double speedup,
      double low,
      double high,
      int rounds,
      @Nullable Boolean hostBound) {

    static List<Row> of(Verdict verdict) {
      List<SizeTiming> sizes =
          verdict.judgement().sizes() == null ? List.of() : verdict.judgement().sizes();
      return sizes.stream().map(size -> of(verdict, size)).toList();
    }

    private static Row of(Verdict verdict, SizeTiming size) {
      return new Row(
          verdict.judgement().device().uuid(),
          verdict.provenance().category() + "/" + verdict.provenance().task(),
          size.shape(),
          verdict.provenance().sample(),
          size.candidateMs(),
          size.referenceMs(),
          size.speedup(),
          size.low(),
          size.high(),
          size.rounds(),
          size.hostBound());
    }

    /** Whether another row is the same size, device and repetition. */
    boolean isTwin(Row other) {
      return repeat == other.repeat
          && shape.equals(other.shape)
          && Objects.equals(device, other.device);
    }

    Ratio ratio() {
      return new Ratio(speedup, low, high);
    }

    /** Duration of the size: the shorter time of the two sides. */
    double ms() {
      return Math.min(candidateMs, referenceMs);
    }

    /** Whether it is timed until its interval is within 1 %. */
    boolean isLong() {
      return ms() >= SizeClass.LONG_MS;
    }

    /** Whether the size is device-bound. */
    boolean deviceAlone() {
      return hostBound == null || !hostBound;
    }

    /** |log speedup|. */
    double distance() {
      return Math.abs(Math.log(speedup));
    }

    double halfWidth() {
      return Math.log(high / low) / 2;
    }

    /** Identity of the size. */
    String size() {
      return task + " " + shape;
    }
  }

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
  public record SizeClass(
      String name,
      int sizes,
      int rows,
      double median,
      double p90,
      double p95,
      double largest,
      NoiseReport.Share withinOnePercent,
      NoiseReport.Share cover,
      double halfWidth,
      NoiseReport.Share narrow,
      double rounds) {
    /** Sizes of at least so many milliseconds are timed until their interval is within 1 %. */
    static final double LONG_MS = 0.05;

    private static final double ONE_PERCENT = 0.01;

    /** Selects the rows of a class. */
    private record Bounds(String name, Predicate<NoiseReport.Row> hold) {
      /** The bounds from so many milliseconds (inclusive) to so many (exclusive). */
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
            new Bounds(">= 50 us", NoiseReport.Row::isLong),
            DEVICE,
            new Bounds("- host", row -> row.isLong() && !row.deviceAlone()));

    /**
     * The non-empty classes: by duration; all sizes of at least {@link #LONG_MS}; of these the
     * device-bound and the host-bound ones.
     */
    static List<SizeClass> of(List<NoiseReport.Row> rows) {
      return CLASSES.stream().flatMap(bounds -> of(bounds, rows).stream()).toList();
    }

    /** Device-bound sizes of at least {@link #LONG_MS}, if any. */
    public static Optional<SizeClass> ofDevice(List<NoiseReport.Row> rows) {
      return of(DEVICE, rows);
    }

    private static Optional<SizeClass> of(Bounds bounds, List<NoiseReport.Row> all) {
      List<NoiseReport.Row> rows = all.stream().filter(bounds.hold()).toList();
      if (rows.isEmpty()) return Optional.empty();
      double[] distances = values(rows, NoiseReport.Row::distance);
      return Optional.of(
          new SizeClass(
              bounds.name(),
              (int) rows.stream().map(NoiseReport.Row::size).distinct().count(),
              rows.size(),
              Quantile.of(distances, 0.5),
              Quantile.of(distances, 0.9),
              Quantile.of(distances, 0.95),
              Quantile.of(distances, 1),
              NoiseReport.Share.of(rows, row -> Math.abs(row.speedup() - 1) <= ONE_PERCENT),
              NoiseReport.Share.of(rows, row -> row.ratio().covers(1)),
              Quantile.of(values(rows, NoiseReport.Row::halfWidth), 0.5),
              NoiseReport.Share.of(rows, row -> row.halfWidth() <= ONE_PERCENT),
              rows.stream().mapToInt(NoiseReport.Row::rounds).average().orElseThrow()));
    }

    private static double[] values(
        List<NoiseReport.Row> rows, ToDoubleFunction<NoiseReport.Row> of) {
      return rows.stream().mapToDouble(of).toArray();
    }
  }

  /**
   * Whether the measurements tell a kernel from its twin, which moves 3 % more bytes.
   *
   * @param trueRatio ratio of their times according to the bytes moved
   * @param median of the measured ratio
   * @param told tries whose interval excludes 1 in the right direction
   * @param cover tries whose interval contains the true ratio
   */
  public record Twins(
      double trueRatio,
      double median,
      NoiseReport.Share told,
      NoiseReport.Share cover,
      List<Try> tries) {
    /** {@code 1 + EXTRA} of the twin's source. */
    static final double TRUE_RATIO = 1.03;

    public Twins {
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
    static Optional<Twins> of(List<NoiseReport.Row> plain, List<NoiseReport.Row> slowed) {
      List<Try> tries = new ArrayList<>();
      for (NoiseReport.Row row : plain) {
        slowed.stream().filter(row::isTwin).map(twin -> compared(row, twin)).forEach(tries::add);
      }
      if (tries.isEmpty()) return Optional.empty();
      return Optional.of(
          new Twins(
              TRUE_RATIO,
              Quantile.of(tries.stream().mapToDouble(Try::ratio).toArray(), 0.5),
              NoiseReport.Share.of(tries, t -> t.low() > 1),
              NoiseReport.Share.of(tries, t -> t.asRatio().covers(TRUE_RATIO)),
              tries));
    }

    private static Try compared(NoiseReport.Row plain, NoiseReport.Row slowed) {
      Ratio ratio = plain.ratio().over(slowed.ratio());
      return new Try(plain.shape(), plain.repeat(), ratio.value(), ratio.low(), ratio.high());
    }
  }
}
