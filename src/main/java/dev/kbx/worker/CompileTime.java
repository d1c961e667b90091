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

  private long ended;
  private long begun;
  private boolean compiles;

  /**
   * Notes that it begins to compile, or has ended.
   *
   * @param when nanoseconds
   */
  synchronized void note(boolean begins, long when) {
    if (compiles) ended += when - begun;
    compiles = begins;
    begun = when;
  }

  /** Up to {@code now}, nanoseconds; at most {@link #MOST}. */
  synchronized long nanos(long now) {
    return Math.min(MOST, ended + (compiles ? now - begun : 0));
  }
}
