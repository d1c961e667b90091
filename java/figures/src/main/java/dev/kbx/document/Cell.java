package dev.kbx.document;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A value of a table. Its {@link #text} is the same in every medium: how a number is rounded, how
 * an interval is written and what stands for an unknown value is decided here. The factories make a
 * {@link Missing} of what is null.
 */
public sealed interface Cell {
  /** The value as plain text in one line. */
  String text();

  /** A value that is not known or does not apply. */
  static Cell missing() {
    return new Missing();
  }

  /** Any text. */
  static Cell text(@Nullable String text) {
    return text == null ? missing() : new Text(text);
  }

  /** A number of things. */
  static Cell count(@Nullable Integer count) {
    return count == null ? new Missing() : new Count(count);
  }

  /** {@code 14 of 20}. */
  static Cell part(int count, int whole) {
    return new Text(count + " of " + whole);
  }

  /** A share of 1 in percent. */
  static Cell share(@Nullable Double share) {
    return share(share, null, null);
  }

  /** A share of 1 in percent with its 95 % interval. */
  static Cell share(@Nullable Double share, @Nullable Double low, @Nullable Double high) {
    return share == null ? new Missing() : new Share(share, low, high);
  }

  /** A ratio. */
  static Cell ratio(double ratio) {
    return new Ratio(ratio, null, null);
  }

  /** A ratio with its 95 % interval. */
  static Cell ratio(@Nullable Double ratio, @Nullable Double low, @Nullable Double high) {
    return ratio == null ? new Missing() : new Ratio(ratio, low, high);
  }

  /** An odds ratio with its 95 % interval. */
  static Cell odds(@Nullable Double odds, @Nullable Double low, @Nullable Double high) {
    return odds == null ? missing() : new Odds(odds, low, high);
  }

  /** A correlation with its 95 % interval. */
  static Cell correlation(@Nullable Double rho, @Nullable Double low, @Nullable Double high) {
    return rho == null ? missing() : new Correlation(rho, low, high);
  }

  /** A probability. */
  static Cell probability(@Nullable Double p) {
    return p == null ? new Missing() : new Probability(p);
  }

  /** A test statistic or information criterion. */
  static Cell statistic(@Nullable Double value) {
    return value == null ? new Missing() : new Statistic(value);
  }

  /** Any text. */
  record Text(String text) implements Cell {}

  /** A number of things: {@code 1234}. */
  record Count(int count) implements Cell {
    @Override
    public String text() {
      return Integer.toString(count);
    }
  }

  /**
   * {@code 62.5 %}, {@code 62.5 % [52–71]}, {@code 1.3 % [0.4–5.2]}: the ends of an interval wider
   * than ten points are whole percents.
   */
  record Share(double share, @Nullable Double low, @Nullable Double high) implements Cell {
    private static final double WIDE = 0.1;

    @Override
    public String text() {
      String percent = String.format(Locale.ROOT, "%.1f %%", share * 100);
      if (low == null || high == null) return percent;
      String ends = high - low > WIDE ? " [%.0f–%.0f]" : " [%.1f–%.1f]";
      return percent + String.format(Locale.ROOT, ends, low * 100, high * 100);
    }
  }

  /** {@code 1.52×}, {@code 1.52× [1.50–1.54]}. */
  record Ratio(double ratio, @Nullable Double low, @Nullable Double high) implements Cell {
    @Override
    public String text() {
      return String.format(Locale.ROOT, "%.2f×", ratio) + interval(low, high);
    }
  }

  /** {@code 2.00}, {@code 2.00 [0.43–∞]}. */
  record Odds(double odds, @Nullable Double low, @Nullable Double high) implements Cell {
    @Override
    public String text() {
      return String.format(Locale.ROOT, "%.2f", odds) + interval(low, high);
    }
  }

  /** {@code +0.31 [+0.12 to +0.48]}. */
  record Correlation(double rho, @Nullable Double low, @Nullable Double high) implements Cell {
    @Override
    public String text() {
      String value = String.format(Locale.ROOT, "%+.2f", rho);
      return low == null || high == null
          ? value
          : value + String.format(Locale.ROOT, " [%+.2f to %+.2f]", low, high);
    }
  }

  /** {@code 0.013}, {@code < 0.001}. */
  record Probability(double p) implements Cell {
    private static final double LEAST = 0.001;

    @Override
    public String text() {
      return p < LEAST ? "< 0.001" : String.format(Locale.ROOT, "%.3f", p);
    }
  }

  /** {@code 3.84}, {@code 710.6}. */
  record Statistic(double value) implements Cell {
    private static final double LONG = 10;

    @Override
    public String text() {
      return String.format(Locale.ROOT, Math.abs(value) < LONG ? "%.2f" : "%.1f", value);
    }
  }

  /** A value that is not known or does not apply: {@code –}. */
  record Missing() implements Cell {
    @Override
    public String text() {
      return "–";
    }
  }

  private static String interval(@Nullable Double low, @Nullable Double high) {
    if (low == null || high == null) return "";
    return high.isInfinite()
        ? String.format(Locale.ROOT, " [%.2f–∞]", low)
        : String.format(Locale.ROOT, " [%.2f–%.2f]", low, high);
  }
}
