package dev.kbx.llm;

import com.fasterxml.jackson.annotation.JsonValue;
import dev.kbx.llm.ChatReply.Usage;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A request has no reply: the error is permanent, or every attempt failed. The message is one line:
 * which model, what, what to do. It contains no key.
 */
public final class ModelFailure extends Exception {
  private static final long serialVersionUID = 1;

  /** Why. */
  public enum Kind {
    /** No valid key, no permission, or no credit. */
    AUTHENTICATION,
    /** The provider has no such model, or nothing answers at this address. */
    UNKNOWN_MODEL,
    /** The messages are longer than the model takes. */
    CONTEXT_TOO_LONG,
    /** The provider refuses the request as it is. */
    INVALID_REQUEST,
    /** Too many requests or tokens a minute, after all attempts. */
    RATE_LIMITED,
    /** The provider could not answer, after all attempts. */
    OVERLOADED,
    /** No connection, or it was lost, after all attempts. */
    UNREACHABLE,
    /** The address is not the provider's by its certificate, or speaks no TLS. */
    UNTRUSTED,
    /** The provider sent nothing for too long, after all attempts. */
    SILENT,
    /** What the provider sent is not a reply, after all attempts. */
    MALFORMED,
    /** The ledger or the program has no reply. */
    NO_ANSWER;

    @JsonValue
    String label() {
      return name().toLowerCase(Locale.ROOT);
    }

    /** Whether the same request may succeed later. */
    boolean passing() {
      return switch (this) {
        case RATE_LIMITED, OVERLOADED, UNREACHABLE, SILENT, MALFORMED -> true;
        case AUTHENTICATION,
            UNKNOWN_MODEL,
            CONTEXT_TOO_LONG,
            INVALID_REQUEST,
            UNTRUSTED,
            NO_ANSWER ->
            false;
      };
    }
  }

  private final Kind kind;
  private final transient @Nullable Usage charged;
  private final double seconds;
  private final int attempts;
  private final int unmetered;

  public ModelFailure(
      Kind kind,
      String message,
      @Nullable Usage charged,
      double seconds,
      int attempts,
      int unmetered) {
    super(message);
    this.kind = kind;
    this.charged = charged;
    this.seconds = seconds;
    this.attempts = attempts;
    this.unmetered = unmetered;
  }

  public Kind kind() {
    return kind;
  }

  /** Whether no other request to this model can succeed either. */
  public boolean fatal() {
    return kind == Kind.AUTHENTICATION || kind == Kind.UNKNOWN_MODEL || kind == Kind.UNTRUSTED;
  }

  /** Tokens that the failed attempts reported; null if none did. */
  public @Nullable Usage charged() {
    return charged;
  }

  /** Seconds of exchange with the provider over all attempts, without pauses. */
  public double seconds() {
    return seconds;
  }

  /** The number of requests sent whose tokens are not known, or only in part. */
  public int unmetered() {
    return unmetered;
  }

  /** Requests sent. */
  public int attempts() {
    return attempts;
  }
}
