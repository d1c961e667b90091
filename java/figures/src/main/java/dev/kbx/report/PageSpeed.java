package dev.kbx.report;

import dev.kbx.analysis.FastP;
import dev.kbx.analysis.MethodAndModel;
import dev.kbx.analysis.SelectedTasks;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Verdict.SizeTiming;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What the page's charts of speed show beside its rows.
 *
 * @param baseline of the speedups
 * @param curves fast_p of each method and model
 * @param bandwidth peak of the device in 10⁹ bytes a second; null if not known
 * @param rates peaks in 10¹² operations a second, one for each precision that was timed
 */
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
      SelectedTasks asked,
      List<MethodAndModel> makers) {
    boolean timed = verdicts.rows().stream().anyMatch(row -> row.correctSpeedup() != null);
    if (!timed) return null;
    List<Curve> curves = new ArrayList<>();
    MethodAndModel.group(verdicts.rows())
        .forEach((maker, rows) -> {
          List<FastP.Point> curve = FastP.curve(rows, asked, run.baseline());
          if (curve != null) curves.add(new Curve(makers.indexOf(maker), points(curve)));
        });
    List<SizeTiming> sizes = sizes(shown, verdicts);
    return new PageSpeed(run.baseline(), curves, bandwidth(sizes), rates(sizes));
  }

  private static List<List<Double>> points(List<FastP.Point> curve) {
    return curve.stream()
        .map(at -> Stream.of(at.p(), at.share(), at.low(), at.high()))
        .map(point -> point.filter(Objects::nonNull).toList())
        .filter(point -> point.size() == 4) // Without tasks there are no shares.
        .toList();
  }

  private static List<SizeTiming> sizes(List<RunVerdicts.Entry> shown, RunVerdicts verdicts) {
    List<SizeTiming> all = new ArrayList<>();
    for (RunVerdicts.Entry entry : shown) {
      List<SizeTiming> own =
          entry.row().sizes() == null ? null : verdicts.whole(entry).judgement().sizes();
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
