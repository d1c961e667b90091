package dev.kbx.timing;

import static dev.kbx.timing.Defaults.MUCH_SLOWER;

import dev.kbx.plan.Limits;
import java.time.Duration;

/** The time that a candidate's timed calls may still have the device alone. */
final class DeviceBudget {
  private final Limits limits;
  private long spentNanos;

  DeviceBudget(Limits limits) {
    this.limits = limits;
  }

  void spend(long nanos) {
    spentNanos += nanos;
  }

  /** Milliseconds; at least 0. */
  double leftMs() {
    return Math.max(0, (limits.device().toNanos() - spentNanos) / 1e6);
  }

  /**
   * The limit of one batch: what is left, but time enough for a candidate that is not much slower
   * than the reference.
   */
  Duration batch(int calls, double referenceMs) {
    double ms = Math.max(leftMs(), MUCH_SLOWER * referenceMs * calls);
    Duration limit = Duration.ofMillis((long) Math.ceil(ms));
    return limit.compareTo(limits.size()) < 0 ? limit : limits.size();
  }

  /** Seconds in all. */
  long seconds() {
    return limits.device().toSeconds();
  }
}
