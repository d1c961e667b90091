package dev.kbx.llm;

import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** Reading and writing JSON as trees. */
final class JsonText {
  private static final JsonMapper MAPPER = JsonMapper.builder().build();

  private JsonText() {}

  static ObjectNode object() {
    return MAPPER.createObjectNode();
  }

  /** Without white space, members in the order they were put. */
  static String write(JsonNode node) {
    return MAPPER.writeValueAsString(node);
  }

  /** The document; empty if the text is none. */
  static Optional<JsonNode> parse(String text) {
    try {
      JsonNode node = MAPPER.readTree(text);
      return node.isMissingNode() ? Optional.empty() : Optional.of(node);
    } catch (JacksonException e) {
      return Optional.empty();
    }
  }

  /** The member's text; null if it is absent or no text. */
  static @Nullable String text(JsonNode node, String member) {
    return node.path(member).isString() ? node.path(member).asString() : null;
  }

  /**
   * The member's count; null if it is absent, or no whole number from 0 to {@link
   * ChatReply.Usage#MOST}.
   */
  static @Nullable Long count(JsonNode node, String member) {
    JsonNode value = node.path(member);
    if (!value.isNumber()) return null;
    double number = value.asDouble();
    boolean counts = number >= 0 && number <= ChatReply.Usage.MOST && number == Math.rint(number);
    return counts ? Long.valueOf((long) number) : null;
  }
}
