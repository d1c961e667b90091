package dev.kbx.report;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.kbx.analysis.AskedTasks;
import dev.kbx.analysis.Maker;
import dev.kbx.analysis.VerdictRow;
import dev.kbx.stats.Exceedance;
import dev.kbx.stats.Rate;
import dev.kbx.stats.Ratio;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict.SizeTiming;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What the page's charts of speed show beside its rows.
 *
 * @param baseline of the speedups
 * @param curves fast_p of each method and model
 * @param bandwidth peak of the device in 10⁹ bytes a second; null if not known
 * @param rates peaks in 10¹² operations a second, one for each precision that was timed
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
record PageSpeed(
    String baseline, List<Curve> curves, @Nullable Double bandwidth, List<Double> rates) {
  /** Peaks of so many precisions are drawn. */
  private static final int MOST_RATES = 3;

  /** Peaks that differ by less are one, measured twice. */
  private static final double SAME = 0.05;

  /**
   * A step function: each point holds up to the next.
   *
   * @param maker index into the page's methods and models
   * @param points threshold, share, lower and upper end of its 95 % interval
   */
  record Curve(int maker, List<List<Double>> points) {}

  /** Null if nothing was timed. */
  static @Nullable PageSpeed of(
      RunInfo run,
      RunVerdicts verdicts,
      List<RunVerdicts.Entry> shown,
      AskedTasks asked,
      List<Maker> makers) {
    boolean timed = verdicts.rows().stream().anyMatch(row -> row.correctSpeedup() != null);
    if (!timed) return null;
    List<Curve> curves = new ArrayList<>();
    Maker.group(verdicts.rows())
        .forEach((maker, rows) -> {
          List<List<Double>> points = points(attempts(rows), asked.total());
          if (!points.isEmpty()) curves.add(new Curve(makers.indexOf(maker), points));
        });
    List<SizeTiming> sizes = sizes(shown, verdicts);
    return new PageSpeed(run.baseline(), curves, bandwidth(sizes), rates(sizes));
  }

  /** The first sample of each task, in its last round. */
  private static Collection<VerdictRow> attempts(List<VerdictRow> rows) {
    Map<String, VerdictRow> first = new LinkedHashMap<>();
    for (VerdictRow row : rows) {
      first.merge(row.path(), row, (old, now) -> now.sample() == old.sample() ? now : old);
    }
    return first.values();
  }

  /** None if the speedup of a correct candidate is not known. */
  private static List<List<Double>> points(Collection<VerdictRow> attempts, int asked) {
    List<VerdictRow> correct =
        attempts.stream().filter(row -> row.status() == Status.CORRECT).toList();
    double[] speedups =
        correct.stream()
            .map(VerdictRow::correctSpeedup)
            .filter(Objects::nonNull)
            .mapToDouble(Ratio::value)
            .toArray();
    if (speedups.length == 0 || speedups.length < correct.size()) return List.of();
    Exceedance faster = new Exceedance(speedups, Math.max(asked, attempts.size()));
    return Arrays.stream(faster.steps())
        .mapToObj(p -> {
          Rate rate = faster.above(p);
          return List.of(p, rate.value(), rate.low(), rate.high());
        })
        .toList();
  }

  private static List<SizeTiming> sizes(List<RunVerdicts.Entry> shown, RunVerdicts verdicts) {
    List<SizeTiming> all = new ArrayList<>();
    for (RunVerdicts.Entry entry : shown) {
      List<SizeTiming> own = entry.row().sizes() == null ? null : verdicts.whole(entry).sizes();
      if (own != null) all.addAll(own);
    }
    return all;
  }

  /** The peak by which shares of the bandwidth were made. */
  private static @Nullable Double bandwidth(List<SizeTiming> sizes) {
    double[] peaks =
        sizes.stream()
            .filter(size -> size.gbs() != null && size.iou() != null && size.iou() > 0)
            .mapToDouble(size -> size.gbs() / size.iou())
            .sorted()
            .toArray();
    return peaks.length == 0 ? null : peaks[peaks.length / 2];
  }

  private static List<Double> rates(List<SizeTiming> sizes) {
    List<Double> peaks = new ArrayList<>();
    sizes.stream()
        .filter(size -> size.tflops() != null && size.mfu() != null && size.mfu() > 0)
        .map(size -> size.tflops() / size.mfu())
        .sorted((a, b) -> Double.compare(b, a))
        .forEach(peak -> {
          if (peaks.isEmpty() || peak < peaks.getLast() * (1 - SAME)) peaks.add(peak);
        });
    return peaks.subList(0, Math.min(peaks.size(), MOST_RATES));
  }
}
