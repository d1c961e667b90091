package dev.kbx.report;

import dev.kbx.analysis.GeneralRate;
import dev.kbx.stats.Rate;
import java.util.Locale;

/** Rates and ratios as text. */
public final class RateText {
  private RateText() {}

  /** {@code 14/20 70 %}. */
  static String rate(Rate rate) {
    return String.format(
        Locale.ROOT, "%d/%d %3.0f %%", rate.passes(), rate.total(), rate.value() * 100);
  }

  /** The 95 % interval in percent, {@code [48–85]}. */
  static String interval(Rate rate) {
    return String.format(Locale.ROOT, "[%.0f–%.0f]", rate.low() * 100, rate.high() * 100);
  }

  /** {@code , 65 % [52–76]}; empty if there is no share. */
  static String share(GeneralRate rate) {
    if (rate.share() == null || rate.low() == null || rate.high() == null) return "";
    return String.format(
        Locale.ROOT,
        ", %.0f %% [%.0f–%.0f]",
        rate.share() * 100,
        rate.low() * 100,
        rate.high() * 100);
  }

  /** {@code 1.52×}. */
  static String ratio(double ratio) {
    return String.format(Locale.ROOT, "%.2f×", ratio);
  }

  /** {@code 1.52× [1.50–1.54]}; without an interval that excludes nothing. */
  public static String ratio(double ratio, double low, double high) {
    if (Double.isInfinite(high)) return ratio(ratio);
    return String.format(Locale.ROOT, "%.2f× [%.2f–%.2f]", ratio, low, high);
  }
}
