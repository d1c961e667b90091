package dev.kbx.dashboard;

import org.jspecify.annotations.Nullable;

/**
 * A submission of a candidate that has no verdict yet, or failed.
 *
 * @param state as in the interface: {@code queued}, {@code judging}, …
 * @param task {@code Category/name}
 * @param ahead how many are before it; null if it does not wait
 * @param message why it failed or expired
 */
public record Pending(
    String id,
    String state,
    String task,
    String run,
    @Nullable Integer ahead,
    @Nullable String message) {
  /** Whether a verdict may still come. */
  boolean isOpen() {
    return state.equals("queued") || state.equals("judging");
  }
}
