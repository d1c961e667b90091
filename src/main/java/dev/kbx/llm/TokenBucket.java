package dev.kbx.llm;

import java.time.Duration;

/**
 * A limit by the minute: fills evenly, holds what ten seconds bring, and may be overdrawn; who
 * overdraws waits until it is level. Unlike a fixed distance between requests this lets a long
 * prompt pass at once after a quiet time, and unlike a window of a minute it never lets a whole
 * minute's worth pass in one burst.
 */
final class TokenBucket {
  private static final double MINUTE = 60e9;
  private static final double HELD = 10e9;

  private final double perNano;
  private final double capacity;
  private final Time time;
  private double level;
  private long filledAt;

  TokenBucket(double perMinute, Time time) {
    this.perNano = perMinute / MINUTE;
    this.capacity = Math.max(1, perNano * HELD);
    this.time = time;
    this.level = capacity;
    this.filledAt = time.nanos();
  }

  /** Takes that many, and returns how long to wait before they may be used. */
  synchronized Duration take(long count) {
    long now = time.nanos();
    level = Math.min(capacity, level + (now - filledAt) * perNano);
    filledAt = now;
    level = Math.min(capacity, level - count);
    return level >= 0 ? Duration.ZERO : Duration.ofNanos((long) Math.ceil(-level / perNano));
  }
}
