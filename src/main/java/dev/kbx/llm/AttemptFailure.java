package dev.kbx.llm;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** One attempt failed. */
final class AttemptFailure extends Exception {
  private static final long serialVersionUID = 1;

  private final ModelFailure.Kind kind;
  private final transient @Nullable Usage usage;
  private final @Nullable Duration retryAfter;

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
    super(message, null, false, false);
    this.kind = kind;
    this.usage = usage;
    this.retryAfter = retryAfter;
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

  AttemptFailure charged(@Nullable Usage reported) {
    return new AttemptFailure(kind, message(), reported, retryAfter);
  }

  String message() {
    return String.valueOf(getMessage());
  }
}
