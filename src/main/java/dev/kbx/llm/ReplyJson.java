package dev.kbx.llm;

import static java.util.Objects.requireNonNullElse;

import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** A reply in files of kbx's own: a ledger, the cache, what a program prints. */
final class ReplyJson {
  private ReplyJson() {}

  static ObjectNode write(ChatReply reply) {
    ObjectNode node = JsonText.object();
    node.put("text", reply.text());
    if (reply.thinking() != null) node.put("thinking", reply.thinking());
    node.put("finish", reply.finish());
    Usage usage = reply.usage();
    if (usage != null) {
      ObjectNode counts = node.putObject("usage");
      put(counts, "input", usage.input());
      put(counts, "output", usage.output());
      put(counts, "cached_input", usage.cachedInput());
      put(counts, "reasoning", usage.reasoning());
      put(counts, "cache_written", usage.cacheWritten());
    }
    node.put("seconds", reply.seconds());
    node.put("model", reply.servedModel());
    node.put("attempts", reply.attempts());
    if (reply.unmetered() > 0) node.put("unmetered", reply.unmetered());
    return node;
  }

  private static void put(ObjectNode node, String name, @Nullable Long count) {
    if (count != null) node.put(name, count);
  }

  /**
   * The reply; empty if the document has no text. Only the text is needed.
   *
   * @param model where the document names none
   */
  static Optional<ChatReply> read(JsonNode node, String model) {
    String text = JsonText.text(node, "text");
    if (text == null) return Optional.empty();
    Long attempts = JsonText.count(node, "attempts");
    Long unmetered = JsonText.count(node, "unmetered");
    Usage usage = usage(node.path("usage"));
    return Optional.of(
        new ChatReply(
            text,
            JsonText.text(node, "thinking"),
            requireNonNullElse(JsonText.text(node, "finish"), ChatReply.STOP),
            usage,
            node.path("seconds").isNumber() ? node.path("seconds").asDouble() : 0,
            requireNonNullElse(JsonText.text(node, "model"), model),
            attempts == null ? 1 : (int) Math.min(attempts, Integer.MAX_VALUE),
            unmetered == null
                ? Usage.unmetered(usage)
                : (int) Math.min(unmetered, Integer.MAX_VALUE),
            false));
  }

  private static @Nullable Usage usage(JsonNode counts) {
    if (!counts.isObject()) return null;
    return new Usage(
        JsonText.count(counts, "input"),
        JsonText.count(counts, "output"),
        JsonText.count(counts, "cached_input"),
        JsonText.count(counts, "reasoning"),
        JsonText.count(counts, "cache_written"));
  }
}
