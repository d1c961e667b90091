package dev.kbx.llm;

import static java.util.stream.Collectors.joining;

import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Anthropic's messages. It has no seed: one that is asked for is not sent. */
final class AnthropicWire implements Wire {
  private static final String VERSION = "2023-06-01";

  /** The format needs a limit. */
  private static final int MAX_TOKENS = 16_384;

  @Override
  public String path() {
    return "/messages";
  }

  @Override
  public Map<String, String> headers(@Nullable String key) {
    return key == null
        ? Map.of("anthropic-version", VERSION)
        : Map.of("anthropic-version", VERSION, "x-api-key", key);
  }

  @Override
  public ObjectNode body(ModelSettings settings, ChatRequest request) {
    Dialect dialect = settings.dialect();
    Parameters asked = request.parameters();
    ObjectNode body = JsonText.object();
    body.put("model", settings.model());
    Integer maxTokens = dialect.maxTokens(asked);
    body.put("max_tokens", maxTokens == null ? MAX_TOKENS : maxTokens);
    messages(request, dialect.promptCache(), body);
    if (asked.temperature() != null) body.put("temperature", asked.temperature());
    if (asked.topP() != null) body.put("top_p", asked.topP());
    if (asked.reasoningEffort() != null) {
      thinking(dialect.thinking(), asked.reasoningEffort(), body);
    }
    if (dialect.stream()) body.put("stream", true);
    dialect.finish(body);
    return body;
  }

  /** System messages are not part of the conversation. */
  private static void messages(ChatRequest request, boolean caching, ObjectNode body) {
    String system =
        request.messages().stream()
            .filter(message -> message.role() == ChatMessage.Role.SYSTEM)
            .map(ChatMessage::text)
            .collect(joining("\n\n"));
    if (!system.isEmpty()) body.put("system", system);
    ArrayNode messages = body.putArray("messages");
    int last = request.messages().size() - 1;
    for (int i = 0; i <= last; i++) {
      ChatMessage message = request.messages().get(i);
      if (message.role() == ChatMessage.Role.SYSTEM) continue;
      ObjectNode sent = messages.addObject().put("role", message.role().label());
      int stable = caching && i == last ? request.stable() : 0;
      if (stable == 0) sent.put("content", message.text());
      else divided(message.text(), stable, sent.putArray("content"));
    }
  }

  /**
   * The part that requests have in common as a block of its own, which Anthropic keeps with all
   * before it for five minutes. Short ones, of fewer than some thousand tokens, it does not keep.
   */
  private static void divided(String text, int stable, ArrayNode content) {
    content
        .addObject()
        .put("type", "text")
        .put("text", text.substring(0, stable))
        .putObject("cache_control")
        .put("type", "ephemeral");
    String rest = text.substring(stable);
    // A block of white space alone is refused.
    if (!rest.isBlank()) content.addObject().put("type", "text").put("text", rest);
  }

  private static void thinking(Dialect.Thinking way, String effort, ObjectNode body) {
    if (effort.equals("none")) {
      body.putObject("thinking").put("type", "disabled");
      return;
    }
    switch (way) {
      case EFFORT -> {
        body.putObject("thinking").put("type", "adaptive");
        body.putObject("output_config").put("effort", effort);
      }
      case BUDGET -> {
        int budget = budget(effort);
        body.putObject("thinking").put("type", "enabled").put("budget_tokens", budget);
        // The limit includes the thinking.
        body.put("max_tokens", body.path("max_tokens").asInt() + budget);
      }
    }
  }

  /** Tokens for models that take no effort: the words that they do not know have the middle. */
  private static int budget(String effort) {
    return switch (effort) {
      case "low", "minimal" -> 4_096;
      case "high", "xhigh", "max" -> 32_768;
      default -> 12_288;
    };
  }

  @Override
  public Assembly assembly() {
    return new AnthropicReply();
  }
}
