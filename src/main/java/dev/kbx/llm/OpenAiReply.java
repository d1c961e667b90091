package dev.kbx.llm;

import static java.util.Objects.requireNonNullElse;

import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Assembles a chat completion, whole or streamed: a choice has its {@code message} or pieces of it,
 * each a {@code delta}.
 */
final class OpenAiReply implements Wire.Assembly {
  private final StringBuilder text = new StringBuilder();
  private final StringBuilder thinking = new StringBuilder();
  private final StringBuilder refusal = new StringBuilder();
  private boolean whole;
  private @Nullable String finish;
  private @Nullable String model;
  private @Nullable Usage usage;

  @Override
  public boolean add(JsonNode document) throws AttemptFailure {
    if (document.hasNonNull("error")) throw ErrorReply.within(document).failure(null);
    String served = JsonText.text(document, "model");
    if (served != null) model = served;
    JsonNode reported = document.get("usage");
    if (reported != null && reported.isObject()) usage = usage(reported);
    JsonNode choice = document.path("choices").path(0);
    whole |= choice.path("message").isObject();
    piece(choice.path("message"));
    piece(choice.path("delta"));
    String reason = JsonText.text(choice, "finish_reason");
    if (reason != null) finish = finish(reason);
    return false; // The stream says [DONE].
  }

  private void piece(JsonNode part) {
    content(part.path("content"));
    append(thinking, JsonText.text(part, "reasoning_content"));
    append(thinking, JsonText.text(part, "reasoning"));
    append(refusal, JsonText.text(part, "refusal"));
  }

  /** A text, or a list of parts. */
  private void content(JsonNode content) {
    if (content.isString()) text.append(content.asString());
    for (JsonNode part : content) append(text, JsonText.text(part, "text"));
  }

  private static void append(StringBuilder builder, @Nullable String piece) {
    if (piece != null) builder.append(piece);
  }

  /** Servers of other origins have words of their own. */
  private static String finish(String reason) {
    return switch (reason) {
      case "end_turn", "eos", "eos_token", "stop_sequence" -> ChatReply.STOP;
      case "max_tokens" -> ChatReply.LENGTH;
      default -> reason.startsWith("content_filter") ? ChatReply.REFUSAL : reason;
    };
  }

  /** Null if a count cannot be one: then nothing of it is believed. */
  private static @Nullable Usage usage(JsonNode reported) {
    JsonNode cached = reported.path("prompt_tokens_details");
    JsonNode reasoned = reported.path("completion_tokens_details");
    if (JsonText.isMiscounted(reported, "prompt_tokens")
        || JsonText.isMiscounted(reported, "completion_tokens")
        || JsonText.isMiscounted(reported, "total_tokens")
        || JsonText.isMiscounted(cached, "cached_tokens")
        || JsonText.isMiscounted(reasoned, "reasoning_tokens")) {
      return null;
    }
    return new Usage(
        JsonText.count(reported, "prompt_tokens"),
        output(reported),
        JsonText.count(cached, "cached_tokens"),
        JsonText.count(reasoned, "reasoning_tokens"));
  }

  /** Gemini leaves reasoning, which it charges as output, out of all but the total. */
  private static @Nullable Long output(JsonNode reported) {
    Long output = JsonText.count(reported, "completion_tokens");
    Long input = JsonText.count(reported, "prompt_tokens");
    Long total = JsonText.count(reported, "total_tokens");
    if (output == null || input == null || total == null) return output;
    return Math.max(output, total - input);
  }

  @Override
  public Optional<Answer> answer() {
    if (finish == null && !whole) return Optional.empty();
    boolean refused = !refusal.isEmpty();
    String said = refused && text.isEmpty() ? refusal.toString() : text.toString();
    String reason = refused ? ChatReply.REFUSAL : requireNonNullElse(finish, ChatReply.UNKNOWN);
    String thought = thinking.isEmpty() ? null : thinking.toString();
    return Optional.of(new Answer(said, thought, reason, usage, model));
  }

  @Override
  public @Nullable Usage usage() {
    return usage;
  }
}
