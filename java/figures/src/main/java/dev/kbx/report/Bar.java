package dev.kbx.report;

import dev.kbx.stats.Rate;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Shares as markup: a bar, the number, its interval. */
final class Bar {
  private Bar() {}

  static String of(Rate rate) {
    return of(rate.value(), rate.low(), rate.high());
  }

  /** The share as a bar, with its interval as a line. */
  static String of(double value, @Nullable Double low, @Nullable Double high) {
    String interval =
        low == null || high == null
            ? ""
            : "<rect class=\"interval\" x=\"%s\" y=\"3\" width=\"%s\" height=\"2\"/>"
                .formatted(decimal(100 * low), decimal(100 * (high - low)));
    return """
    <svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">\
    <rect class="track" width="100" height="8"/><rect class="fill" width="%s" height="8"/>%s</svg>\
    """
        .formatted(decimal(100 * value), interval);
  }

  static String decimal(double value) {
    return String.format(Locale.ROOT, "%.1f", value);
  }

  static String percent(double share) {
    return String.format(Locale.ROOT, "%.0f\u00a0%%", share * 100);
  }

  static String interval(double low, double high) {
    return String.format(Locale.ROOT, "%.0f–%.0f\u00a0%%", low * 100, high * 100);
  }
}
