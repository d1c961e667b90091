package dev.kbx.server;

import java.time.Duration;

/**
 * Slows down who sends invalid tokens: nobody finds one, but answering takes processor time. Safe
 * for several threads, and of the same size however many addresses there are.
 */
final class Guesses {
  /** Addresses may share a counter. */
  private static final int COUNTERS = 1 << 10;

  /** Answered at once, of each counter in each second. */
  private static final int AT_ONCE = 20;

  private static final Duration DELAY = Duration.ofMillis(250);
  private static final long SECOND = Duration.ofSeconds(1).toNanos();

  private final long[] seconds = new long[COUNTERS];
  private final int[] counts = new int[COUNTERS];

  /** What to answer to a request without a valid token. Takes a while if there are many. */
  Refusal refusal(String address, String detail) {
    if (count(address) <= AT_ONCE) return Refusal.of(401, detail);
    try {
      Thread.sleep(DELAY);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return Refusal.laterClosing(429, "too many requests without a valid token", 1);
  }

  private synchronized int count(String address) {
    int counter = Math.floorMod(address.hashCode(), COUNTERS);
    long second = System.nanoTime() / SECOND;
    if (seconds[counter] != second) {
      seconds[counter] = second;
      counts[counter] = 0;
    }
    return ++counts[counter];
  }
}
