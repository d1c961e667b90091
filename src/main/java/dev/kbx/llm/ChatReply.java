package dev.kbx.llm;

import com.fasterxml.jackson.annotation.JsonInclude;
import org.jspecify.annotations.Nullable;

/**
 * What a model answered.
 *
 * @param text may be empty
 * @param thinking reasoning that the provider shows beside the text
 * @param finish {@code stop}, {@code length} (cut at a limit), {@code refusal} (the model or a
 *     content filter declined), or the provider's own word
 * @param usage of all attempts; of a cached reply, what it once cost
 * @param seconds of exchange with the provider over all attempts, without pauses; of a cached or
 *     recorded reply, what it once took
 * @param servedModel the name that the provider gave
 * @param attempts requests sent, 1 or more
 * @param unmetered those of them whose tokens the provider did not tell, or only in part
 * @param cached read from the reply cache: nothing was sent or charged
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record ChatReply(
    String text,
    @Nullable String thinking,
    String finish,
    @Nullable Usage usage,
    double seconds,
    String servedModel,
    int attempts,
    int unmetered,
    boolean cached) {
  static final String STOP = "stop";
  static final String LENGTH = "length";
  static final String REFUSAL = "refusal";

  /** A provider gave no reason. */
  static final String UNKNOWN = "unknown";

  /** A reply to the first request sent. */
  public ChatReply(
      String text,
      @Nullable String thinking,
      String finish,
      @Nullable Usage usage,
      double seconds,
      String servedModel) {
    this(text, thinking, finish, usage, seconds, servedModel, 1, Usage.unmetered(usage), false);
  }

  ChatReply asCached() {
    return new ChatReply(
        text, thinking, finish, usage, seconds, servedModel, attempts, unmetered, true);
  }
}
