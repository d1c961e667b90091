package dev.kbx.llm;

import org.jspecify.annotations.Nullable;

/** What the attempts at one reply have cost so far. */
final class Expense {
  private int attempts;
  private long nanos;
  private @Nullable Usage usage;

  void attempt(long took) {
    attempts++;
    nanos += took;
  }

  void charge(@Nullable Usage reported) {
    usage = Usage.sum(usage, reported);
  }

  int attempts() {
    return attempts;
  }

  double seconds() {
    return nanos / 1e9;
  }

  @Nullable Usage usage() {
    return usage;
  }
}
