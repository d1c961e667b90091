package dev.kbx.analysis;

import com.fasterxml.jackson.annotation.JsonValue;
import org.jspecify.annotations.Nullable;

/**
 * What a method spent.
 *
 * @param calls requests to models
 * @param requests sent for them: more where some had to be repeated
 * @param lost of the calls, in flight when kbx was killed
 * @param tokens input and output, as far as providers told
 * @param uncounted requests whose tokens are not known, or only in part
 * @param usd as far as prices are known
 * @param unpriced requests whose cost is not known
 * @param deviceSeconds of judging for feedback
 * @param reported of the calls, those that an external program made itself, by its own word
 */
public record Spent(
    long calls,
    long requests,
    long lost,
    long tokens,
    long uncounted,
    double usd,
    long unpriced,
    double deviceSeconds,
    long reported) {
  public static final Spent NOTHING = new Spent(0, 0, 0, 0, 0, 0, 0, 0, 0);

  /** What can be limited. */
  public enum Kind {
    CALLS("calls"),
    TOKENS("tokens"),
    USD("usd"),
    DEVICE_SECONDS("device_seconds");

    private final String label;

    Kind(String label) {
      this.label = label;
    }

    /** As in files. */
    @JsonValue
    public String label() {
      return label;
    }
  }

  /** So much of a kind; null where it is not known. */
  @Nullable Double of(Kind kind) {
    return switch (kind) {
      case CALLS -> (double) calls;
      case TOKENS -> uncounted > 0 ? null : (Double) (double) tokens;
      case USD -> unpriced > 0 ? null : (Double) usd;
      case DEVICE_SECONDS -> deviceSeconds;
    };
  }

  public Spent plus(Spent other) {
    return new Spent(
        calls + other.calls,
        requests + other.requests,
        lost + other.lost,
        tokens + other.tokens,
        uncounted + other.uncounted,
        usd + other.usd,
        unpriced + other.unpriced,
        deviceSeconds + other.deviceSeconds,
        reported + other.reported);
  }
}
