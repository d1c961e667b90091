package dev.kbx.llm;

import org.jspecify.annotations.Nullable;

/** What the attempts at one reply have cost so far. */
final class Expense {
  private int attempts;
  private int metered;
  private long nanos;
  private @Nullable Usage usage;

  void attempt(long took) {
    attempts++;
    nanos += took;
  }

  /**
   * Adds what an attempt cost.
   *
   * @param whole whether that is all, and not only what was told before it failed
   */
  void charge(@Nullable Usage reported, boolean whole) {
    usage = Usage.sum(usage, reported);
    if (whole && Usage.unmetered(reported) == 0) metered++;
  }

  int attempts() {
    return attempts;
  }

  /** Attempts whose tokens are not known, or only in part. */
  int unmetered() {
    return attempts - metered;
  }

  double seconds() {
    return nanos / 1e9;
  }

  @Nullable Usage usage() {
    return usage;
  }
}
