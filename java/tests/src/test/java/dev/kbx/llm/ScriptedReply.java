package dev.kbx.llm;

import dev.kbx.llm.ChatReply.Usage;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What a {@link ScriptedProvider} does with a request. */
public sealed interface ScriptedReply {
  /**
   * A reply in the format of the request, streamed if the request asks for that.
   *
   * @param finish {@code stop}, {@code length} or {@code refusal}
   * @param usage null: not reported
   */
  record Text(String text, @Nullable String thinking, String finish, @Nullable Usage usage)
      implements ScriptedReply {
    public Text thinking(String thought) {
      return new Text(text, thought, finish, usage);
    }

    public Text finish(String reason) {
      return new Text(text, thinking, reason, usage);
    }

    public Text usage(@Nullable Usage reported) {
      return new Text(text, thinking, finish, reported);
    }
  }

  /** An answer as it is. */
  record Raw(int status, Map<String, String> headers, String body) implements ScriptedReply {}

  /** Closes the connection: at once, or after the first half of a reply. */
  record Dropped(@Nullable Text begun) implements ScriptedReply {}

  /** Sends nothing more until the provider is closed: at once, or after half of a reply. */
  record Silent(@Nullable Text begun) implements ScriptedReply {}

  /** A reply of 10 input and 20 output tokens. */
  static Text text(String text) {
    return new Text(text, null, "stop", new Usage(10L, 20L, null, null));
  }

  /** An error in the format that both providers use, near enough. */
  static Raw error(int status, String type, String message) {
    return error(status, type, message, Map.of());
  }

  static Raw error(int status, String type, String message, Map<String, String> headers) {
    var body = JsonText.object();
    body.put("type", "error");
    body.putObject("error").put("type", type).put("message", message);
    return new Raw(status, headers, JsonText.write(body));
  }

  static Raw tooMany(String retryAfter) {
    return error(429, "rate_limit_error", "slow down", Map.of("Retry-After", retryAfter));
  }

  /** A success whose body is not what it should be. */
  static Raw body(String body) {
    return new Raw(200, Map.of("Content-Type", "application/json"), body);
  }
}
