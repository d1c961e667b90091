package dev.kbx.document;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
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

  /** The text without the interval. */
  default String brief() {
    return text();
  }

  /** A value that is not known or does not apply. */
  static Cell missing() {
    return new Missing();
  }

  /** Any text. */
  static Cell text(@Nullable String text) {
    return text == null ? missing() : new Text(text);
  }

  /** A word in the colour of what it means. */
  static Cell label(String text, Tone tone) {
    return new Label(text, tone);
  }

  /**
   * A cell that leads to what it counts.
   *
   * @param address of a page, beginning with a slash; else a query string that says which
   *     candidates: each page appends it to its own address, and media without pages leave it out
   */
  static Cell link(Cell shown, String address) {
    return new Link(shown, address);
  }

  /** A number of things. */
  static Cell count(@Nullable Integer count) {
    return count == null ? new Missing() : new Count(count);
  }

  /** A number of things. */
  static Cell count(long count) {
    return new Count(count);
  }

  /** A mean of counts: {@code 3}, {@code 2.9}. */
  static Cell mean(double mean) {
    return mean == Math.rint(mean)
        ? count((long) mean)
        : text(String.format(Locale.ROOT, "%.1f", mean));
  }

  /**
   * Passes, their number of all, and their share with its 95 % interval, which may be a mean over
   * tasks.
   */
  static Cell rate(
      long passes, long of, double share, @Nullable Double low, @Nullable Double high) {
    return new Rate(passes, of, new Share(share, low, high));
  }

  /** A difference of two shares in points with its 95 % interval. */
  static Cell points(double difference, @Nullable Double low, @Nullable Double high) {
    return new Points(difference, low, high);
  }

  /** A time in seconds. */
  static Cell seconds(@Nullable Double seconds) {
    return seconds == null ? missing() : new Seconds(seconds);
  }

  /** A date and time. */
  static Cell time(Instant instant) {
    return new Time(instant);
  }

  /** A price in US dollars. */
  static Cell usd(@Nullable Double usd) {
    return usd == null ? missing() : new Usd(usd);
  }

  /** A price in US dollars, of which a third digit is shown where it counts. */
  static Cell price(@Nullable Double usd) {
    if (usd == null) return missing();
    String text = String.format(Locale.ROOT, "%.3f", usd);
    return text(text.endsWith("0") ? text.substring(0, text.length() - 1) : text);
  }

  /** A ratio near 1, or a share near 0, of which the third digit counts. */
  static Cell fine(double value, boolean ratio) {
    return new Fine(value, ratio);
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

  /** What a value means, for its colour. */
  enum Tone {
    GOOD,
    BAD,
    ODD
  }

  /** A word in the colour of what it means. */
  record Label(String text, Tone tone) implements Cell {}

  /** A cell that leads to what it counts. */
  record Link(Cell shown, String address) implements Cell {
    @Override
    public String text() {
      return shown.text();
    }

    @Override
    public String brief() {
      return shown.brief();
    }
  }

  /** A number of things: {@code 1,234}. */
  record Count(long count) implements Cell {
    @Override
    public String text() {
      return String.format(Locale.ROOT, "%,d", count);
    }
  }

  /** {@code 14/20 70.0 % [48–85]}. */
  record Rate(long passes, long of, Share share) implements Cell {
    @Override
    public String text() {
      return passes + "/" + of + " " + share.text();
    }

    @Override
    public String brief() {
      return passes + "/" + of + " " + share.brief();
    }
  }

  /** {@code +12}, {@code +12 [+3 to +21]}. */
  record Points(double difference, @Nullable Double low, @Nullable Double high) implements Cell {
    @Override
    public String text() {
      return low == null || high == null
          ? brief()
          : brief() + String.format(Locale.ROOT, " [%+.0f to %+.0f]", low * 100, high * 100);
    }

    @Override
    public String brief() {
      return String.format(Locale.ROOT, "%+.0f", difference * 100);
    }
  }

  /** {@code 0.0482 ms}, {@code 3.04 s}, {@code 41.5 s}, {@code 2 min 5 s}, {@code 3 h 12 min}. */
  record Seconds(double seconds) implements Cell {
    private static final double LEAST = 0.01;
    private static final double LONG = 10;
    private static final int MINUTE = 60;
    private static final int HOUR = 3600;

    @Override
    public String text() {
      if (seconds > 0 && seconds < LEAST) {
        return String.format(Locale.ROOT, "%.3g ms", 1000 * seconds);
      }
      if (seconds < LONG) return String.format(Locale.ROOT, "%.2f s", seconds);
      if (seconds < MINUTE) return String.format(Locale.ROOT, "%.1f s", seconds);
      long whole = Math.round(seconds);
      return whole < HOUR
          ? "%d min %d s".formatted(whole / MINUTE, whole % MINUTE)
          : "%d h %d min".formatted(whole / HOUR, whole % HOUR / MINUTE);
    }
  }

  /** {@code 2026-11-21 06:35 UTC}. */
  record Time(Instant instant) implements Cell {
    private static final DateTimeFormatter MINUTE =
        DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm 'UTC'", Locale.ROOT).withZone(ZoneOffset.UTC);

    @Override
    public String text() {
      return MINUTE.format(instant);
    }
  }

  /** {@code 12.50}, {@code 0.0313}. */
  record Usd(double usd) implements Cell {
    private static final double SMALL = 0.1;
    private static final double TINY = 0.001;

    @Override
    public String text() {
      if (usd > 0 && usd < TINY) return String.format(Locale.ROOT, "%.6f", usd);
      return String.format(Locale.ROOT, usd > 0 && usd < SMALL ? "%.4f" : "%.2f", usd);
    }
  }

  /** {@code 1.023×}, {@code 0.43 %}. */
  record Fine(double value, boolean ratio) implements Cell {
    @Override
    public String text() {
      return ratio
          ? String.format(Locale.ROOT, "%.3f×", value)
          : String.format(Locale.ROOT, "%.2f %%", value * 100);
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
      if (low == null || high == null) return brief();
      String ends = high - low > WIDE ? " [%.0f–%.0f]" : " [%.1f–%.1f]";
      return brief() + String.format(Locale.ROOT, ends, low * 100, high * 100);
    }

    @Override
    public String brief() {
      return String.format(Locale.ROOT, "%.1f %%", share * 100);
    }
  }

  /** {@code 1.52×}, {@code 1.52× [1.50–1.54]}. */
  record Ratio(double ratio, @Nullable Double low, @Nullable Double high) implements Cell {
    @Override
    public String text() {
      return brief() + interval(low, high);
    }

    @Override
    public String brief() {
      return String.format(Locale.ROOT, "%.2f×", ratio);
    }
  }

  /** {@code 2.00}, {@code 2.00 [0.43–∞]}. */
  record Odds(double odds, @Nullable Double low, @Nullable Double high) implements Cell {
    @Override
    public String text() {
      return brief() + interval(low, high);
    }

    @Override
    public String brief() {
      return Double.isInfinite(odds) ? "∞" : String.format(Locale.ROOT, "%.2f", odds);
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
