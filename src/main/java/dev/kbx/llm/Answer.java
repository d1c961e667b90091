package dev.kbx.llm;

import org.jspecify.annotations.Nullable;

/** What one attempt brought; as in {@link ChatReply}. */
record Answer(
    String text,
    @Nullable String thinking,
    String finish,
    @Nullable Usage usage,
    @Nullable String model) {

  /** A content filter refused before any model answered. */
  static Answer refusal(String message) {
    return new Answer(message, null, ChatReply.REFUSAL, null, null);
  }
}
