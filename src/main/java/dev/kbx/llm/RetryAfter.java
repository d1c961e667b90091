package dev.kbx.llm;

import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import org.jspecify.annotations.Nullable;

/** The value of a {@code Retry-After} header: seconds, or a date of HTTP. */
final class RetryAfter {
  private RetryAfter() {}

  /** How long to wait, 0 or more; null if the value is neither. */
  static @Nullable Duration parse(String value, Instant now) {
    String text = value.strip();
    Duration wait = text.matches("\\d{1,9}(\\.\\d{1,9})?") ? seconds(text) : until(text, now);
    return wait != null && wait.isNegative() ? Duration.ZERO : wait;
  }

  private static Duration seconds(String text) {
    return Duration.ofNanos((long) (Double.parseDouble(text) * 1e9));
  }

  private static @Nullable Duration until(String text, Instant now) {
    try {
      ZonedDateTime date = ZonedDateTime.parse(text, DateTimeFormatter.RFC_1123_DATE_TIME);
      return Duration.between(now, date.toInstant());
    } catch (DateTimeParseException e) {
      return null;
    }
  }
}
