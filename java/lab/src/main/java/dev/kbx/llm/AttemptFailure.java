package dev.kbx.llm;

import static java.util.Objects.requireNonNullElse;
import static java.util.stream.Collectors.joining;

import dev.kbx.llm.ChatReply.Usage;
import dev.kbx.llm.ModelFailure.Kind;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** One attempt failed. The message, of any length, may repeat the key. */
final class AttemptFailure extends Exception {
  private static final long serialVersionUID = 1;

  final Kind kind;

  /** What the provider reported before. */
  final transient @Nullable Usage usage;

  /** How long the provider asks to wait. */
  final @Nullable Duration retryAfter;

  /** Whether the usage is only what was told before the reply was cut off. */
  final boolean partial;

  private AttemptFailure(
      Kind kind,
      @Nullable String message,
      @Nullable Usage usage,
      @Nullable Duration retryAfter,
      boolean partial) {
    super(message, null, false, false);
    this.kind = kind;
    this.usage = usage;
    this.retryAfter = retryAfter;
    this.partial = partial;
  }

  AttemptFailure(Kind kind, String message) {
    this(kind, message, null, null, false);
  }

  /** The failure of a whole reply. */
  AttemptFailure(Kind kind, String message, @Nullable Usage usage) {
    this(kind, message, usage, null, false);
  }

  /** The failure of a request that may be repeated after a while. */
  AttemptFailure(Kind kind, String message, @Nullable Duration retryAfter) {
    this(kind, message, null, retryAfter, false);
  }

  /** This failure of a reply that was cut off, with what had been reported of its cost. */
  AttemptFailure cutOff(@Nullable Usage reported) {
    return new AttemptFailure(kind, getMessage(), reported, retryAfter, true);
  }

  /** The failure that a document inside an answer tells, which began as a success. */
  static AttemptFailure within(JsonNode document) {
    JsonNode error = Refusal.error(document);
    Refusal found = Refusal.of(0, error, JsonText.write(document));
    int code = error.path("code").isNumber() ? error.path("code").asInt() : 0;
    int status = code >= 400 && code < 600 ? code : Refusal.status(found.code());
    return new Refusal(status, found.code(), found.message()).failure(null);
  }

  /**
   * A provider's error.
   *
   * @param status of HTTP, or the one that its type has there
   * @param code type and code in the provider's words, lower case
   * @param message in the provider's words
   */
  record Refusal(int status, String code, String message) {
    private static final int OVERLOADED = 529;

    /** Most providers have no code for it. */
    private static final Pattern TOO_LONG =
        Pattern.compile(
            "context[_ ](length|window|size)|prompt is too long|input is too long|too many tokens"
                + "|maximum number of tokens|reduce the length",
            Pattern.CASE_INSENSITIVE);

    /** Codes: messages about limits by the minute mention quota and billing, too. */
    private static final Pattern NO_CREDIT = Pattern.compile("insufficient_quota|billing");

    private static final String LOW_BALANCE = "credit balance is too low";

    private static final Pattern FILTERED = Pattern.compile("content_filter|content_policy");

    /** How gateways say it. */
    private static final Pattern FLAGGED =
        Pattern.compile("flagged|moderation", Pattern.CASE_INSENSITIVE);

    /** The refusal in the body of a failed answer. */
    static Refusal of(int status, String body) {
      Optional<JsonNode> parsed = JsonText.parse(body);
      if (parsed.isEmpty()) return new Refusal(status, "", body);
      JsonNode document = parsed.get().isArray() ? parsed.get().path(0) : parsed.get();
      return of(status, error(document), body);
    }

    /** Where the message is: {@code {"error": {…}}}, {@code {"error": "…"}}, or the document. */
    private static JsonNode error(JsonNode document) {
      JsonNode error = document.get("error");
      return error != null && error.isObject() ? error : document;
    }

    private static Refusal of(int status, JsonNode error, String body) {
      String code =
          Stream.of("type", "code", "status")
              .map(member -> requireNonNullElse(JsonText.text(error, member), ""))
              .collect(joining(" "))
              .toLowerCase(Locale.ROOT)
              .strip();
      String message =
          Stream.of("message", "error", "detail")
              .flatMap(member -> Stream.ofNullable(JsonText.text(error, member)))
              .findFirst()
              .orElse(body);
      return new Refusal(status, code, message);
    }

    private static int status(String code) {
      if (code.contains("authentication")) return 401;
      if (code.contains("permission")) return 403;
      if (code.contains("not_found")) return 404;
      if (code.contains("too_large")) return 413;
      if (code.contains("rate_limit")) return 429;
      if (code.contains("invalid_request")) return 400;
      return code.contains("overloaded") ? OVERLOADED : 500;
    }

    /** Whether a content filter refused the request: that is a reply. */
    boolean isFiltered() {
      return switch (status) {
        case 400 -> FILTERED.matcher(code).find();
        case 403 -> FLAGGED.matcher(message).find();
        default -> false;
      };
    }

    /**
     * @param retryAfter as the provider asks
     */
    AttemptFailure failure(@Nullable Duration retryAfter) {
      String said = message.isBlank() ? "" : ": " + message.strip();
      String number = status == 0 ? "" : " (%d)".formatted(status);
      return new AttemptFailure(kind(), what(kind()) + number + said, retryAfter);
    }

    private Kind kind() {
      if (status < 500 && (NO_CREDIT.matcher(code).find() || message.contains(LOW_BALANCE))) {
        return Kind.AUTHENTICATION;
      }
      return switch (status) {
        case 401, 402, 403 -> Kind.AUTHENTICATION;
        case 404 -> Kind.UNKNOWN_MODEL;
        case 408, 409 -> Kind.OVERLOADED;
        case 413 -> Kind.CONTEXT_TOO_LONG;
        case 429 -> Kind.RATE_LIMITED;
        default -> status >= 500 ? Kind.OVERLOADED : refused();
      };
    }

    private Kind refused() {
      if (TOO_LONG.matcher(code + " " + message).find()) return Kind.CONTEXT_TOO_LONG;
      if (code.contains("model_not_found")) return Kind.UNKNOWN_MODEL;
      boolean key = message.contains("API key") || code.contains("invalid_api_key");
      return key ? Kind.AUTHENTICATION : Kind.INVALID_REQUEST;
    }

    private static String what(Kind kind) {
      return switch (kind) {
        case AUTHENTICATION -> "the provider refuses this key or account";
        case UNKNOWN_MODEL -> "no such model or address";
        case CONTEXT_TOO_LONG -> "the prompt is too long for the model";
        case INVALID_REQUEST -> "the provider refuses the request";
        case RATE_LIMITED -> "too many requests or tokens";
        default -> "the provider cannot answer now";
      };
    }
  }
}
