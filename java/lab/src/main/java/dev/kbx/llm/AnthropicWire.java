package dev.kbx.llm;

import static java.util.Objects.requireNonNullElse;
import static java.util.stream.Collectors.joining;

import dev.kbx.llm.ChatReply.Usage;
import dev.kbx.llm.ChatRequest.Message;
import dev.kbx.llm.ChatRequest.Parameters;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
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
    ModelSettings.Dialect dialect = settings.dialect();
    Parameters asked = request.parameters();
    ObjectNode body = JsonText.object().put("model", settings.model());
    body.put("max_tokens", requireNonNullElse(dialect.maxTokens(asked), MAX_TOKENS));
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
            .filter(message -> message.role() == Message.Role.SYSTEM)
            .map(Message::text)
            .collect(joining("\n\n"));
    if (!system.isEmpty()) body.put("system", system);
    ArrayNode messages = body.putArray("messages");
    int last = request.messages().size() - 1;
    for (int i = 0; i <= last; i++) {
      Message message = request.messages().get(i);
      if (message.role() == Message.Role.SYSTEM) continue;
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
    ObjectNode kept =
        content.addObject().put("type", "text").put("text", text.substring(0, stable));
    kept.putObject("cache_control").put("type", "ephemeral");
    String rest = text.substring(stable);
    // A block of white space alone is refused.
    if (!rest.isBlank()) content.addObject().put("type", "text").put("text", rest);
  }

  private static void thinking(ModelSettings.Thinking way, String effort, ObjectNode body) {
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
  public Wire.Assembly assembly() {
    return new Assembly();
  }

  private static final class Assembly extends Wire.Assembly {
    private static final String INPUT = "input_tokens";
    private static final String READ = "cache_read_input_tokens";
    private static final String WRITTEN = "cache_creation_input_tokens";
    private static final String OUTPUT = "output_tokens";
    private static final String REASONING = "thinking_tokens";

    /** Counts in a stream are of the whole so far. */
    private final Counts counts = new Counts();

    @Override
    boolean add(JsonNode document) throws AttemptFailure {
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
        case "error" -> throw AttemptFailure.within(document);
        default -> {} // "ping", "content_block_stop", and what is yet to be invented.
      }
      return type.equals("message_stop");
    }

    private void message(JsonNode message) {
      served(message);
      for (JsonNode block : message.path("content")) block(block);
      reason(message);
      count(message.path("usage"));
    }

    /** A block, or a piece of one: the text's name says which kind it is. */
    private void block(JsonNode block) {
      append(text, block, "text");
      append(thinking, block, "thinking");
    }

    private void reason(JsonNode node) {
      String reason = JsonText.text(node, "stop_reason");
      if (reason == null) return;
      finish =
          switch (reason) {
            case "end_turn", "stop_sequence" -> ChatReply.STOP;
            case "max_tokens", "model_context_window_exceeded" -> ChatReply.LENGTH;
            case "refusal" -> ChatReply.REFUSAL;
            default -> reason;
          };
    }

    private void count(JsonNode usage) {
      counts.read(usage, INPUT, READ, WRITTEN, OUTPUT);
      counts.read(usage.path("output_tokens_details"), REASONING);
    }

    @Override
    Optional<Answer> answer() {
      return Optional.ofNullable(finish).map(reason -> answer(text.toString(), reason));
    }

    /** Anthropic counts the parts of the input separately. */
    @Override
    @Nullable Usage usage() {
      Long rest = counts.get(INPUT);
      Long output = counts.get(OUTPUT);
      if (counts.isBroken() || (rest == null && output == null)) return null;
      Long read = counts.get(READ);
      Long written = counts.get(WRITTEN);
      Long input = rest;
      if (rest != null) {
        input = rest + requireNonNullElse(read, 0L) + requireNonNullElse(written, 0L);
      }
      return new Usage(input, output, read, counts.get(REASONING), written);
    }
  }
}
