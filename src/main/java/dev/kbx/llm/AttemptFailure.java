package dev.kbx.llm;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** One attempt failed. */
final class AttemptFailure extends Exception {
  private static final long serialVersionUID = 1;

  private final ModelFailure.Kind kind;
  private final transient @Nullable Usage usage;
  private final @Nullable Duration retryAfter;
  private final boolean partial;

  /**
   * @param message without key, one line
   * @param usage what the provider reported before
   * @param retryAfter how long the provider asks to wait
   */
  AttemptFailure(
      ModelFailure.Kind kind,
      String message,
      @Nullable Usage usage,
      @Nullable Duration retryAfter) {
    this(kind, message, usage, retryAfter, false);
  }

  private AttemptFailure(
      ModelFailure.Kind kind,
      String message,
      @Nullable Usage usage,
      @Nullable Duration retryAfter,
      boolean partial) {
    super(message, null, false, false);
    this.kind = kind;
    this.usage = usage;
    this.retryAfter = retryAfter;
    this.partial = partial;
  }

  AttemptFailure(ModelFailure.Kind kind, String message) {
    this(kind, message, null, null);
  }

  ModelFailure.Kind kind() {
    return kind;
  }

  @Nullable Usage usage() {
    return usage;
  }

  @Nullable Duration retryAfter() {
    return retryAfter;
  }

  /** Whether the usage is only what was told before the reply was cut off. */
  boolean isPartial() {
    return partial;
  }

  /** The same of a reply that was cut off, with what had been reported of its cost. */
  AttemptFailure cutOff(@Nullable Usage reported) {
    return new AttemptFailure(kind, message(), reported, retryAfter, true);
  }

  String message() {
    return String.valueOf(getMessage());
  }
}
