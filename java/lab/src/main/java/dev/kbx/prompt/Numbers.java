package dev.kbx.prompt;

import java.util.Locale;

/** Numbers as text. */
final class Numbers {
  private Numbers() {}

  /** Three significant digits. */
  static String text(double value) {
    return value >= 1000 && value < 1e7
        ? String.format(Locale.ROOT, "%.0f", value)
        : String.format(Locale.ROOT, "%.3g", value);
  }

  /** A share as whole percent. */
  static String percent(double share) {
    return String.format(Locale.ROOT, "%.0f %%", 100 * share);
  }
}
