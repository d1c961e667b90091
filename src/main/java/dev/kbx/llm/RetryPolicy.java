package dev.kbx.llm;

import java.time.Duration;
import java.util.Optional;
import java.util.function.DoubleSupplier;

/**
 * How often and when a failed request is sent again.
 *
 * @param attempts at most, the first included
 * @param firstPause doubles with each attempt
 */
record RetryPolicy(int attempts, Duration firstPause) {
  /** Limits are by the minute: the pauses together outlast one, even if jitter halves them all. */
  static final int ATTEMPTS = 8;

  static final Duration FIRST_PAUSE = Duration.ofSeconds(1);

  /** A silence lasts minutes: not all attempts are worth it. */
  private static final int SILENCES = 3;

  private static final Duration LONGEST = Duration.ofMinutes(1);

  /** Some providers ask to wait until tomorrow. */
  private static final Duration LONGEST_ASKED = Duration.ofMinutes(10);

  static RetryPolicy defaults() {
    return new RetryPolicy(ATTEMPTS, FIRST_PAUSE);
  }

  static RetryPolicy once() {
    return new RetryPolicy(1, FIRST_PAUSE);
  }

  /**
   * How long to wait before the next attempt; empty if there is none.
   *
   * @param sent attempts so far
   * @param random from 0 to 1
   */
  Optional<Duration> pause(AttemptFailure failure, int sent, DoubleSupplier random) {
    int most = failure.kind() == ModelFailure.Kind.SILENT ? Math.min(SILENCES, attempts) : attempts;
    if (!failure.kind().passing() || sent >= most) return Optional.empty();
    if (failure.retryAfter() != null) return Optional.of(asked(failure.retryAfter(), random));
    double seconds = seconds(firstPause) * Math.pow(2, sent - 1);
    return Optional.of(duration(Math.min(seconds, seconds(LONGEST)) * between(0.5, 1, random)));
  }

  /** What the provider asks for, up to the limit, and never less. */
  static Duration capped(Duration asked) {
    return asked.compareTo(LONGEST_ASKED) > 0 ? LONGEST_ASKED : asked;
  }

  /** Up to a tenth longer, so that requests that were refused together do not return together. */
  private static Duration asked(Duration asked, DoubleSupplier random) {
    return duration(seconds(capped(asked)) * between(1, 1.1, random));
  }

  private static double between(double low, double high, DoubleSupplier random) {
    return low + (high - low) * random.getAsDouble();
  }

  private static double seconds(Duration duration) {
    return duration.toNanos() / 1e9;
  }

  private static Duration duration(double seconds) {
    return Duration.ofNanos((long) Math.ceil(seconds * 1e9));
  }
}
