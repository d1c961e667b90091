package dev.kbx.paper;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Numbers of tables as text. */
final class Numbers {
  static final String UNKNOWN = "–";

  private Numbers() {}

  /** A share in percent with its interval: {@code 62.5 [52.1–71.0]}. */
  static String percent(@Nullable Double share, @Nullable Double low, @Nullable Double high) {
    if (share == null) return UNKNOWN;
    return low == null || high == null
        ? percent(share)
        : String.format(Locale.ROOT, "%.1f [%.1f–%.1f]", share * 100, low * 100, high * 100);
  }

  static String percent(@Nullable Double share) {
    return share == null ? UNKNOWN : String.format(Locale.ROOT, "%.1f", share * 100);
  }

  /** A ratio with its interval: {@code 1.52 [1.50–1.54]}. */
  static String ratio(@Nullable Double ratio, @Nullable Double low, @Nullable Double high) {
    if (ratio == null) return UNKNOWN;
    return low == null || high == null
        ? String.format(Locale.ROOT, "%.2f", ratio)
        : String.format(Locale.ROOT, "%.2f [%.2f–%.2f]", ratio, low, high);
  }

  static String decimal(double value) {
    return String.format(Locale.ROOT, "%.1f", value);
  }

  /** {@code 0.013}, {@code < 0.001}. */
  static String probability(@Nullable Double p) {
    if (p == null) return UNKNOWN;
    return p < 0.001 ? "< 0.001" : String.format(Locale.ROOT, "%.3f", p);
  }
}
