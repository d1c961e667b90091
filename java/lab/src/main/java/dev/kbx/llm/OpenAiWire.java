package dev.kbx.llm;

import static java.util.Objects.requireNonNullElse;

import dev.kbx.llm.ChatReply.Usage;
import dev.kbx.llm.ChatRequest.Parameters;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** OpenAI's chat completions, which most servers speak. */
final class OpenAiWire implements Wire {
  private static final String OPENAI = "api.openai.com";

  @Override
  public String path() {
    return "/chat/completions";
  }

  @Override
  public Map<String, String> headers(@Nullable String key) {
    return key == null ? Map.of() : Map.of("Authorization", "Bearer " + key);
  }

  @Override
  public ObjectNode body(ModelSettings settings, ChatRequest request) {
    ModelSettings.Dialect dialect = settings.dialect();
    ObjectNode body = JsonText.object().put("model", settings.model());
    ArrayNode messages = body.putArray("messages");
    for (ChatRequest.Message message : request.messages()) {
      messages.addObject().put("role", message.role().label()).put("content", message.text());
    }
    Parameters asked = request.parameters();
    Integer maxTokens = dialect.maxTokens(asked);
    if (maxTokens != null) body.put(maxTokensField(settings), maxTokens);
    if (asked.temperature() != null) body.put("temperature", asked.temperature());
    if (asked.topP() != null) body.put("top_p", asked.topP());
    if (asked.reasoningEffort() != null) body.put("reasoning_effort", asked.reasoningEffort());
    if (asked.seed() != null) body.put("seed", asked.seed());
    if (dialect.stream()) {
      body.put("stream", true).putObject("stream_options").put("include_usage", true);
    }
    dialect.finish(body);
    return body;
  }

  /** OpenAI's own models refuse the old name, and other servers do not know the new one. */
  private static String maxTokensField(ModelSettings settings) {
    String field = settings.dialect().maxTokensField();
    if (field != null) return field;
    return OPENAI.equals(settings.address().getHost()) ? "max_completion_tokens" : "max_tokens";
  }

  @Override
  public Wire.Assembly assembly() {
    return new Assembly();
  }

  /** A choice has its {@code message} or pieces of it, each a {@code delta}. */
  private static final class Assembly extends Wire.Assembly {
    private final StringBuilder refusal = new StringBuilder();
    private boolean whole;
    private @Nullable Counts counts;

    @Override
    boolean add(JsonNode document) throws AttemptFailure {
      if (document.hasNonNull("error")) throw AttemptFailure.within(document);
      served(document);
      if (document.path("usage").isObject()) counts = counts(document.path("usage"));
      JsonNode choice = document.path("choices").path(0);
      whole |= choice.path("message").isObject();
      piece(choice.path("message"));
      piece(choice.path("delta"));
      String reason = JsonText.text(choice, "finish_reason");
      if (reason != null) finish = finish(reason);
      return false; // The stream says [DONE].
    }

    private void piece(JsonNode part) {
      append(text, part, "content");
      // A list of parts, in place of a text.
      for (JsonNode inner : part.path("content")) append(text, inner, "text");
      append(thinking, part, "reasoning_content");
      append(thinking, part, "reasoning");
      append(refusal, part, "refusal");
    }

    /** Servers of other origins have words of their own. */
    private static String finish(String reason) {
      return switch (reason) {
        case "end_turn", "eos", "eos_token", "stop_sequence" -> ChatReply.STOP;
        case "max_tokens" -> ChatReply.LENGTH;
        default -> reason.startsWith("content_filter") ? ChatReply.REFUSAL : reason;
      };
    }

    private static Counts counts(JsonNode usage) {
      Counts counts = new Counts();
      counts.read(usage, "prompt_tokens", "completion_tokens", "total_tokens");
      counts.read(usage.path("prompt_tokens_details"), "cached_tokens");
      counts.read(usage.path("completion_tokens_details"), "reasoning_tokens");
      return counts;
    }

    @Override
    Optional<Answer> answer() {
      if (finish == null && !whole) return Optional.empty();
      boolean refused = !refusal.isEmpty();
      StringBuilder said = refused && text.isEmpty() ? refusal : text;
      String reason = refused ? ChatReply.REFUSAL : requireNonNullElse(finish, ChatReply.UNKNOWN);
      return Optional.of(answer(said.toString(), reason));
    }

    @Override
    @Nullable Usage usage() {
      if (counts == null || counts.isBroken()) return null;
      Long input = counts.get("prompt_tokens");
      Long output = counts.get("completion_tokens");
      Long total = counts.get("total_tokens");
      // Gemini leaves reasoning, which it charges as output, out of all but the total.
      if (input != null && output != null && total != null) {
        output = Math.max(output, total - input);
      }
      return new Usage(input, output, counts.get("cached_tokens"), counts.get("reasoning_tokens"));
    }
  }
}
