package dev.kbx.llm;

import static java.util.Objects.requireNonNullElse;

import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Assembles a message of Anthropic, whole or streamed. */
final class AnthropicReply implements Wire.Assembly {
  private final StringBuilder text = new StringBuilder();
  private final StringBuilder thinking = new StringBuilder();
  private @Nullable String finish;
  private @Nullable String model;
  private @Nullable Long input;
  private @Nullable Long cacheRead;
  private @Nullable Long cacheWritten;
  private @Nullable Long output;
  private @Nullable Long reasoning;

  /** A count cannot be one: then nothing of the usage is believed. */
  private boolean miscounted;

  @Override
  public boolean add(JsonNode document) throws AttemptFailure {
    String type = requireNonNullElse(JsonText.text(document, "type"), "");
    switch (type) {
      case "message" -> message(document);
      case "message_start" -> message(document.path("message"));
      case "content_block_start" -> block(document.path("content_block"));
      case "content_block_delta" -> block(document.path("delta"));
      case "message_delta" -> {
        reason(document.path("delta"));
        count(document.path("usage"));
      }
      case "error" -> throw ErrorReply.within(document).failure(null);
      default -> {} // "ping", "content_block_stop", and what is yet to be invented.
    }
    return type.equals("message_stop");
  }

  private void message(JsonNode message) {
    String served = JsonText.text(message, "model");
    if (served != null) model = served;
    for (JsonNode block : message.path("content")) block(block);
    reason(message);
    count(message.path("usage"));
  }

  /** A block, or a piece of one: the text's name says which kind it is. */
  private void block(JsonNode block) {
    String said = JsonText.text(block, "text");
    if (said != null) text.append(said);
    String thought = JsonText.text(block, "thinking");
    if (thought != null) thinking.append(thought);
  }

  private void reason(JsonNode node) {
    String reason = JsonText.text(node, "stop_reason");
    if (reason != null) finish = finish(reason);
  }

  private static String finish(String reason) {
    return switch (reason) {
      case "end_turn", "stop_sequence" -> ChatReply.STOP;
      case "max_tokens", "model_context_window_exceeded" -> ChatReply.LENGTH;
      case "refusal" -> ChatReply.REFUSAL;
      default -> reason;
    };
  }

  /** Counts in a stream are of the whole so far. */
  private void count(JsonNode usage) {
    input = newer(usage, "input_tokens", input);
    cacheRead = newer(usage, "cache_read_input_tokens", cacheRead);
    cacheWritten = newer(usage, "cache_creation_input_tokens", cacheWritten);
    output = newer(usage, "output_tokens", output);
    reasoning = newer(usage.path("output_tokens_details"), "thinking_tokens", reasoning);
  }

  private @Nullable Long newer(JsonNode usage, String name, @Nullable Long older) {
    miscounted |= JsonText.isMiscounted(usage, name);
    Long number = JsonText.count(usage, name);
    return number == null ? older : number;
  }

  @Override
  public Optional<Answer> answer() {
    if (finish == null) return Optional.empty();
    String thought = thinking.isEmpty() ? null : thinking.toString();
    return Optional.of(new Answer(text.toString(), thought, finish, usage(), model));
  }

  /** Anthropic counts the parts of the input separately. */
  @Override
  public @Nullable Usage usage() {
    if (miscounted || (input == null && output == null)) return null;
    Long all =
        input == null
            ? null
            : Long.valueOf(
                input + requireNonNullElse(cacheRead, 0L) + requireNonNullElse(cacheWritten, 0L));
    return new Usage(all, output, cacheRead, reasoning, cacheWritten);
  }
}
