package dev.kbx.llm;

import dev.kbx.llm.ChatReply.Usage;
import dev.kbx.llm.Exchange.ServerSentEvents;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** What a reply says of its tokens, in whichever of the formats that programs speak. */
final class GatewayUsage {
  /** Where documents of a reply have their counts. */
  private static final List<String> PLACES = List.of("", "/message", "/response");

  private final Map<String, Long> counts = new HashMap<>();

  private GatewayUsage() {}

  /** The tokens of a reply, one document or a stream of them; empty if it says nothing of them. */
  static Optional<Usage> of(String body) {
    GatewayUsage usage = new GatewayUsage();
    documents(body).forEach(usage::add);
    return usage.counts.isEmpty() ? Optional.empty() : Optional.of(usage.sum());
  }

  private static List<JsonNode> documents(String body) {
    Optional<JsonNode> whole = JsonText.parse(body);
    if (whole.isPresent()) {
      return whole.get().isArray() ? whole.get().valueStream().toList() : List.of(whole.get());
    }
    List<JsonNode> documents = new ArrayList<>();
    try {
      ServerSentEvents events =
          new ServerSentEvents(new ByteArrayInputStream(body.getBytes(StandardCharsets.UTF_8)));
      for (String data = events.next(); data != null; data = events.next()) {
        JsonText.parse(data).ifPresent(documents::add);
      }
    } catch (IOException e) {
      throw new IllegalStateException(e); // There is no device that could fail.
    }
    return documents;
  }

  /** Counts of a stream are of the whole so far: each takes the place of the earlier. */
  private void add(JsonNode document) {
    for (String place : PLACES) {
      JsonNode at = place.isEmpty() ? document : document.at(place);
      for (String member : new String[] {"usage", "usageMetadata"}) read(at.path(member), "");
    }
  }

  private void read(JsonNode usage, String prefix) {
    for (String name : usage.propertyNames()) {
      Long count = JsonText.count(usage, name);
      if (count != null) counts.put(prefix + name, count);
      else if (prefix.isEmpty()) read(usage.path(name), name + ".");
    }
  }

  private Usage sum() {
    if (counts.containsKey("promptTokenCount")) {
      Long said = first("candidatesTokenCount");
      Long thought = first("thoughtsTokenCount");
      return new Usage(
          first("promptTokenCount"),
          plus(said, thought),
          first("cachedContentTokenCount"),
          thought);
    }
    Long read = first("cache_read_input_tokens");
    Long written = first("cache_creation_input_tokens");
    Long input = first("prompt_tokens", "input_tokens");
    // Anthropic counts the parts of the input separately.
    return new Usage(
        plus(plus(input, read), written),
        first("completion_tokens", "output_tokens"),
        read != null
            ? read
            : first("prompt_tokens_details.cached_tokens", "input_tokens_details.cached_tokens"),
        first(
            "completion_tokens_details.reasoning_tokens",
            "output_tokens_details.reasoning_tokens",
            "output_tokens_details.thinking_tokens"),
        written);
  }

  private @Nullable Long first(String... names) {
    for (String name : names) if (counts.containsKey(name)) return counts.get(name);
    return null;
  }

  private static @Nullable Long plus(@Nullable Long one, @Nullable Long other) {
    if (one == null || other == null) return one == null ? other : one;
    return one + other;
  }
}
