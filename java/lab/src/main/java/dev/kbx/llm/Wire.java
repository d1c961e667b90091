package dev.kbx.llm;

import dev.kbx.llm.ChatReply.Usage;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** A provider's format of requests and replies. */
interface Wire {
  /** Appended to the provider's address. */
  String path();

  /** Headers that carry the key; those that are always sent if there is none. */
  Map<String, String> headers(@Nullable String key);

  ObjectNode body(ModelSettings settings, ChatRequest request);

  /** Reads one reply. */
  Assembly assembly();

  /** What one attempt brought; as in {@link ChatReply}. */
  record Answer(
      String text,
      @Nullable String thinking,
      String finish,
      @Nullable Usage usage,
      @Nullable String model) {}

  /** A reply as it arrives: as one document, or as the pieces of a stream. */
  abstract class Assembly {
    final StringBuilder text = new StringBuilder();
    final StringBuilder thinking = new StringBuilder();
    @Nullable String finish;
    @Nullable String model;

    /**
     * Adds a document.
     *
     * @return whether it says that it is the last
     * @throws AttemptFailure if it is an error
     */
    abstract boolean add(JsonNode document) throws AttemptFailure;

    /** The reply; empty if it is not complete. */
    abstract Optional<Answer> answer();

    /** What was reported so far. */
    abstract @Nullable Usage usage();

    final Answer answer(String said, String reason) {
      return new Answer(
          said, thinking.isEmpty() ? null : thinking.toString(), reason, usage(), model);
    }

    /** Appends a text that the node may have. */
    static void append(StringBuilder builder, JsonNode node, String member) {
      String piece = JsonText.text(node, member);
      if (piece != null) builder.append(piece);
    }

    /** Takes the name of the model that answers. */
    final void served(JsonNode node) {
      String served = JsonText.text(node, "model");
      if (served != null) model = served;
    }
  }

  /** Numbers of tokens by their names. If one cannot be a count, none of them is believed. */
  final class Counts {
    private final Map<String, Long> known = new HashMap<>();
    private boolean broken;

    /** Reads some members, each in place of what was read before. */
    void read(JsonNode usage, String... members) {
      for (String member : members) {
        Long count = JsonText.count(usage, member);
        if (count != null) known.put(member, count);
        else broken |= usage.hasNonNull(member);
      }
    }

    boolean isBroken() {
      return broken;
    }

    @Nullable Long get(String member) {
      return known.get(member);
    }
  }
}
