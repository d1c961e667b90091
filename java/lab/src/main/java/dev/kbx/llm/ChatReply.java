package dev.kbx.llm;

import static java.util.Objects.requireNonNullElse;

import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

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

  /** The reply in files of kbx's own, such as a ledger and the cache. */
  ObjectNode json() {
    ObjectNode node = JsonText.object().put("text", text);
    if (thinking != null) node.put("thinking", thinking);
    node.put("finish", finish);
    if (usage != null) {
      ObjectNode counts = node.putObject("usage");
      put(counts, "input", usage.input);
      put(counts, "output", usage.output);
      put(counts, "cached_input", usage.cachedInput);
      put(counts, "reasoning", usage.reasoning);
      put(counts, "cache_written", usage.cacheWritten);
    }
    node.put("seconds", seconds).put("model", servedModel).put("attempts", attempts);
    if (unmetered > 0) node.put("unmetered", unmetered);
    return node;
  }

  private static void put(ObjectNode node, String name, @Nullable Long count) {
    if (count != null) node.put(name, count);
  }

  /**
   * The reply in a document of kbx's own, or that a program printed; empty if it has no text. Only
   * the text is needed.
   *
   * @param model where the document names none
   */
  static Optional<ChatReply> of(JsonNode node, String model) {
    String text = JsonText.text(node, "text");
    if (text == null) return Optional.empty();
    JsonNode counts = node.path("usage");
    Usage usage =
        counts.isObject()
            ? new Usage(
                JsonText.count(counts, "input"),
                JsonText.count(counts, "output"),
                JsonText.count(counts, "cached_input"),
                JsonText.count(counts, "reasoning"),
                JsonText.count(counts, "cache_written"))
            : null;
    return Optional.of(
        new ChatReply(
            text,
            JsonText.text(node, "thinking"),
            requireNonNullElse(JsonText.text(node, "finish"), STOP),
            usage,
            node.path("seconds").isNumber() ? node.path("seconds").asDouble() : 0,
            requireNonNullElse(JsonText.text(node, "model"), model),
            count(node, "attempts", 1),
            count(node, "unmetered", Usage.unmetered(usage)),
            false));
  }

  private static int count(JsonNode node, String name, int otherwise) {
    Long count = JsonText.count(node, name);
    return count == null ? otherwise : (int) Math.min(count, Integer.MAX_VALUE);
  }

  /**
   * Tokens; null where the provider does not say. What cannot be is taken as not said: negative
   * numbers, those above {@link #MOST}, and parts that are larger than the whole.
   *
   * @param input all of the prompt, cached tokens included
   * @param output all of the reply, reasoning included
   * @param cachedInput the part of the input that the provider had in its cache
   * @param reasoning the part of the output that is reasoning
   * @param cacheWritten the part of the input that the provider put into its cache
   */
  public record Usage(
      @Nullable Long input,
      @Nullable Long output,
      @Nullable Long cachedInput,
      @Nullable Long reasoning,
      @Nullable Long cacheWritten) {
    /** No requests together take more. */
    static final long MOST = 1_000_000_000_000L;

    public Usage {
      input = possible(input, MOST);
      output = possible(output, MOST);
      cachedInput = possible(cachedInput, input == null ? MOST : input);
      reasoning = possible(reasoning, output == null ? MOST : output);
      long rest = (input == null ? MOST : input) - (cachedInput == null ? 0 : cachedInput);
      cacheWritten = possible(cacheWritten, rest);
    }

    private static @Nullable Long possible(@Nullable Long tokens, long most) {
      return tokens == null || tokens < 0 || tokens > most ? null : tokens;
    }

    /** Usage of a provider that says nothing of writing to its cache. */
    public Usage(
        @Nullable Long input,
        @Nullable Long output,
        @Nullable Long cachedInput,
        @Nullable Long reasoning) {
      this(input, output, cachedInput, reasoning, null);
    }

    /** The sum of what is known; null if nothing is. */
    static @Nullable Usage sum(@Nullable Usage one, @Nullable Usage other) {
      if (one == null) return other;
      if (other == null) return one;
      return new Usage(
          sum(one.input, other.input),
          sum(one.output, other.output),
          sum(one.cachedInput, other.cachedInput),
          sum(one.reasoning, other.reasoning),
          sum(one.cacheWritten, other.cacheWritten));
    }

    private static @Nullable Long sum(@Nullable Long one, @Nullable Long other) {
      if (one == null) return other;
      return other == null ? one : Long.valueOf(one + other);
    }

    /** How many of one request's attempts, 0 or 1, this does not tell in full. */
    static int unmetered(@Nullable Usage usage) {
      return usage == null || usage.input == null || usage.output == null ? 1 : 0;
    }

    /** Input and output together, as limits of tokens a minute count them. */
    long total() {
      return (input == null ? 0 : input) + (output == null ? 0 : output);
    }
  }
}
