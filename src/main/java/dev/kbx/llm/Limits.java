package dev.kbx.llm;

import org.jspecify.annotations.Nullable;

/**
 * What a provider allows for one key.
 *
 * @param parallel requests in flight; null: {@value #PARALLEL}
 * @param requestsPerMinute null: no limit
 * @param tokensPerMinute input and output; null: no limit
 */
record Limits(
    @Nullable Integer parallel,
    @Nullable Integer requestsPerMinute,
    @Nullable Integer tokensPerMinute) {
  private static final int PARALLEL = 16;

  static Limits none() {
    return new Limits(null, null, null);
  }

  int inFlight() {
    return parallel == null ? PARALLEL : parallel;
  }

  /** The stricter of each. */
  Limits and(Limits other) {
    return new Limits(
        smaller(parallel, other.parallel),
        smaller(requestsPerMinute, other.requestsPerMinute),
        smaller(tokensPerMinute, other.tokensPerMinute));
  }

  private static @Nullable Integer smaller(@Nullable Integer one, @Nullable Integer other) {
    if (one == null) return other;
    return other == null ? one : Integer.valueOf(Math.min(one, other));
  }
}
