package dev.kbx.llm;

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

  /** A reply as it arrives: as one document, or as the pieces of a stream. */
  interface Assembly {
    /**
     * Adds a document.
     *
     * @return whether it says that it is the last
     * @throws AttemptFailure if it is an error
     */
    boolean add(JsonNode document) throws AttemptFailure;

    /** The reply; empty if it is not complete. */
    Optional<Answer> answer();

    /** What was reported so far. */
    @Nullable Usage usage();
  }
}
