package dev.kbx.worker;

import java.time.Duration;

/**
 * How long a runner has compiled, by its own word. That is not the time of its calls, up to {@link
 * #MOST}: a claim that is false gains no more. Safe for several threads.
 */
final class CompileTime {
  /**
   * In the life of a process, nanoseconds. A kernel takes Triton 0.1 to 1 s, on a slow processor
   * one with a large block 20 s.
   */
  static final long MOST = Duration.ofMinutes(2).toNanos();

  /** Messages in the life of a process, two a kernel: who reads them reads all runners'. */
  private static final int MOST_NOTES = 20_000;

  private int notes;
  private long ended;
  private long begun;
  private boolean compiles;

  /**
   * Notes that it begins to compile, or has ended.
   *
   * @param when nanoseconds
   * @return false if it has said so more often than any candidate compiles
   */
  synchronized boolean note(boolean begins, long when) {
    if (compiles) ended += when - begun;
    compiles = begins;
    begun = when;
    return ++notes <= MOST_NOTES;
  }

  /** Up to {@code now}, nanoseconds; at most {@link #MOST}. */
  synchronized long nanos(long now) {
    return Math.min(MOST, ended + (compiles ? now - begun : 0));
  }
}
