package dev.kbx.llm;

import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.Optional;
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.Nullable;

/**
 * How often and when a failed request is sent again.
 *
 * @param attempts at most, the first included
 * @param firstPause doubles with each attempt
 */
record RetryPolicy(int attempts, Duration firstPause) {
  /**
   * Limits are by the minute: the pauses of 8 attempts together outlast one, even if jitter halves
   * them all.
   */
  static final RetryPolicy DEFAULT = new RetryPolicy(8, Duration.ofSeconds(1));

  static final RetryPolicy ONCE = new RetryPolicy(1, Duration.ofSeconds(1));

  /** A silence lasts minutes: not all attempts are worth it. */
  private static final int SILENCES = 3;

  private static final Duration LONGEST = Duration.ofMinutes(1);

  /** Some providers ask to wait until tomorrow. */
  private static final Duration LONGEST_ASKED = Duration.ofMinutes(10);

  /**
   * How long to wait before the next attempt; empty if there is none.
   *
   * @param sent attempts so far
   * @param random from 0 to 1
   */
  Optional<Duration> pause(AttemptFailure failure, int sent, DoubleSupplier random) {
    int most = failure.kind == ModelFailure.Kind.SILENT ? Math.min(SILENCES, attempts) : attempts;
    if (!failure.kind.passing() || sent >= most) return Optional.empty();
    double chance = random.getAsDouble();
    if (failure.retryAfter != null) {
      // Longer by up to a tenth, so that requests refused together do not return together.
      return Optional.of(times(capped(failure.retryAfter), 1 + 0.1 * chance));
    }
    Duration longer = times(firstPause, Math.pow(2, sent - 1));
    Duration pause = longer.compareTo(LONGEST) > 0 ? LONGEST : longer;
    return Optional.of(times(pause, 0.5 + 0.5 * chance));
  }

  private static Duration times(Duration duration, double factor) {
    return Duration.ofNanos((long) Math.ceil(duration.toNanos() * factor));
  }

  /** What the provider asks for, up to the limit. */
  static Duration capped(Duration asked) {
    return asked.compareTo(LONGEST_ASKED) > 0 ? LONGEST_ASKED : asked;
  }

  /**
   * How long the value of a {@code Retry-After} header asks to wait, 0 or more; null if it is
   * neither seconds nor a date of HTTP.
   */
  static @Nullable Duration retryAfter(String value, Instant now) {
    String text = value.strip();
    if (text.matches("\\d{1,9}(\\.\\d{1,9})?")) {
      return Duration.ofNanos((long) (Double.parseDouble(text) * 1e9));
    }
    try {
      ZonedDateTime date = ZonedDateTime.parse(text, DateTimeFormatter.RFC_1123_DATE_TIME);
      Duration wait = Duration.between(now, date.toInstant());
      return wait.isNegative() ? Duration.ZERO : wait;
    } catch (DateTimeParseException e) {
      return null;
    }
  }
}
