package dev.kbx.llm;

import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * How one model is asked.
 *
 * @param stream whether the reply is asked for piece by piece
 * @param maxTokens limit of a reply where the request names none; null: the provider's
 * @param maxTokensField the limit's name in OpenAI's format; null: by the address
 * @param thinking how Anthropic's models are told the reasoning effort
 * @param promptCache whether Anthropic's format asks to keep what requests have in common
 * @param without members of the request that the model does not accept: they are not sent
 * @param extra members that are sent with every request
 */
record Dialect(
    boolean stream,
    @Nullable Integer maxTokens,
    @Nullable String maxTokensField,
    Thinking thinking,
    boolean promptCache,
    Set<String> without,
    Map<String, JsonNode> extra) {

  /** Anthropic's two ways. */
  enum Thinking {
    /** Adaptive thinking with an effort: models since 4.6. */
    EFFORT,
    /** A number of tokens: models until 4.6. */
    BUDGET
  }

  Dialect {
    without = new TreeSet<>(without);
    extra = new TreeMap<>(extra);
  }

  static Dialect defaults() {
    return new Dialect(true, null, null, Thinking.EFFORT, true, Set.of(), Map.of());
  }

  /** The limit to send; null: none. */
  @Nullable Integer maxTokens(Parameters parameters) {
    return parameters.maxTokens() == null ? maxTokens : parameters.maxTokens();
  }

  /** Adds what is always sent and removes what is never. */
  void finish(ObjectNode body) {
    extra.forEach(body::set);
    without.forEach(body::remove);
  }
}
