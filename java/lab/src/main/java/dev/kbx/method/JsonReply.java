package dev.kbx.method;

import dev.kbx.verdict.Json;
import java.util.Optional;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/** The JSON object in a reply that was asked for one, whatever is around it. */
final class JsonReply {
  private JsonReply() {}

  /** The first object that can be read; empty if there is none. */
  static Optional<JsonNode> object(String reply) {
    for (int at = reply.indexOf('{'); at >= 0; at = reply.indexOf('{', at + 1)) {
      try (var parser = Json.mapper().createParser(reply.substring(at))) {
        JsonNode found = Json.mapper().readTree(parser);
        if (found != null && found.isObject()) return Optional.of(found);
      } catch (JacksonException e) {
        // Not here.
      }
    }
    return Optional.empty();
  }

  /** The sum of all numbers directly in the object; empty if there is no object. */
  static Optional<Double> sum(String reply) {
    return object(reply)
        .map(object ->
            object
                .valueStream()
                .filter(JsonNode::isNumber)
                .mapToDouble(JsonNode::doubleValue)
                .sum());
  }
}
