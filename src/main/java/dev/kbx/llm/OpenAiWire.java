package dev.kbx.llm;

import java.util.Map;
import org.jspecify.annotations.Nullable;
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
    Dialect dialect = settings.dialect();
    ObjectNode body = JsonText.object();
    body.put("model", settings.model());
    ArrayNode messages = body.putArray("messages");
    for (ChatMessage message : request.messages()) {
      messages.addObject().put("role", message.role().label()).put("content", message.text());
    }
    parameters(settings, request.parameters(), body);
    if (dialect.stream()) {
      body.put("stream", true);
      body.putObject("stream_options").put("include_usage", true);
    }
    dialect.finish(body);
    return body;
  }

  private static void parameters(ModelSettings settings, Parameters asked, ObjectNode body) {
    Integer maxTokens = settings.dialect().maxTokens(asked);
    if (maxTokens != null) body.put(maxTokensField(settings), maxTokens);
    if (asked.temperature() != null) body.put("temperature", asked.temperature());
    if (asked.topP() != null) body.put("top_p", asked.topP());
    if (asked.reasoningEffort() != null) body.put("reasoning_effort", asked.reasoningEffort());
    if (asked.seed() != null) body.put("seed", asked.seed());
  }

  /** OpenAI's own models refuse the old name, and other servers do not know the new one. */
  private static String maxTokensField(ModelSettings settings) {
    String field = settings.dialect().maxTokensField();
    if (field != null) return field;
    return OPENAI.equals(settings.address().getHost()) ? "max_completion_tokens" : "max_tokens";
  }

  @Override
  public Assembly assembly() {
    return new OpenAiReply();
  }
}
