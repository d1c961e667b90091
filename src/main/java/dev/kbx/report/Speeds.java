package dev.kbx.report;

import dev.kbx.stats.Ratio;
import dev.kbx.verdict.Against;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict;
import dev.kbx.verdict.Verdict.SizeTiming;
import dev.kbx.verdict.Verdict.Speedup;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** What it takes to set two verdicts' speedups against each other. */
final class Speeds {
  private Speeds() {}

  /** The speedup of a correct candidate; null where it is wrong or was not timed. */
  static @Nullable Ratio of(Verdict verdict) {
    Speedup speedup = verdict.speedup();
    if (verdict.status() != Status.CORRECT || speedup == null) return null;
    return new Ratio(speedup.value(), speedup.low(), speedup.high());
  }

  /**
   * What a speedup is against; null where nothing was timed. The best of several baselines is one,
   * whichever that is for a task: {@code best (compile)} is {@code best}.
   */
  static @Nullable String baseline(Verdict verdict) {
    Speedup speedup = verdict.speedup();
    if (speedup == null) return null;
    return Against.of(speedup.baseline()).ofAnyTask().toString();
  }

  /**
   * What the baseline that a speedup is against takes for all sizes, milliseconds; null where
   * nothing was timed or that is not known.
   */
  static @Nullable Double baselineMs(Verdict verdict) {
    Speedup speedup = verdict.speedup();
    List<SizeTiming> sizes = verdict.sizes();
    if (speedup == null || sizes == null) return null;
    String name = Against.of(speedup.baseline()).measured();
    // The sizes of a verdict are against eager.
    if (name.equals(BaselineSpeeds.EAGER)) {
      return sizes.stream().mapToDouble(SizeTiming::referenceMs).sum();
    }
    List<Verdict.Baseline> baselines = verdict.baselines();
    if (baselines == null) return null;
    for (Verdict.Baseline baseline : baselines) {
      List<Double> ms = baseline.sizesMs();
      if (baseline.name().equals(name) && ms != null) {
        return ms.stream().mapToDouble(Double::doubleValue).sum();
      }
    }
    return null;
  }

  /**
   * Whether both are means over the very same sizes. A mean over other sizes is another quantity,
   * and where sizes are not known, nobody can say.
   */
  static boolean sameSizes(Verdict one, Verdict other) {
    List<SizeTiming> sizes = one.sizes();
    List<SizeTiming> others = other.sizes();
    return sizes != null && others != null && shapes(sizes).equals(shapes(others));
  }

  private static List<String> shapes(List<SizeTiming> sizes) {
    return sizes.stream().map(SizeTiming::shape).sorted().toList();
  }

  /** {@code 1.52×}. */
  static String text(double ratio) {
    return String.format(Locale.ROOT, "%.2f×", ratio);
  }

  /** {@code 1.52× [1.50–1.54]}. */
  static String text(double ratio, double low, double high) {
    return String.format(Locale.ROOT, "%.2f× [%.2f–%.2f]", ratio, low, high);
  }
}
