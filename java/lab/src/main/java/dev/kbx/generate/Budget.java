package dev.kbx.generate;

import dev.kbx.verdict.Spent;
import java.math.BigDecimal;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Limits of what may be spent, for one trajectory or for a whole run; null where there is none. A
 * step is begun as long as all limits allow it, so that the last one may go beyond a limit of
 * tokens, money or seconds by what it costs itself.
 *
 * @param calls what the method asks, however often a request must be repeated
 * @param requests sent to providers, repeated ones included
 * @param tokens input and output
 * @param usd by the price table
 * @param wallSeconds from the start of the trajectory, or of the session
 * @param deviceSeconds of judging
 */
public record Budget(
    @Nullable Long calls,
    @Nullable Long requests,
    @Nullable Long tokens,
    @Nullable Double usd,
    @Nullable Double wallSeconds,
    @Nullable Double deviceSeconds) {
  public static final Budget NONE = new Budget(null, null, null, null, null, null);

  /** The limit that allows no further request, in words. */
  Optional<String> refusesRequest(Spent spent, double wall) {
    if (calls != null && spent.calls() >= calls) return Optional.of(calls + " calls");
    return refusesRepetition(spent, wall);
  }

  /** The limit that does not allow to send a request once more, in words. */
  Optional<String> refusesRepetition(Spent spent, double wall) {
    if (requests != null && spent.requests() >= requests) {
      return Optional.of(requests + " requests");
    }
    return refusesTrial(spent, wall);
  }

  /** The limit that a program has gone beyond with requests of its own, in words. */
  Optional<String> refusesReported(Spent spent) {
    if (spent.reported() == 0) return Optional.empty();
    if (calls != null && spent.calls() > calls) return Optional.of(calls + " calls");
    boolean beyond = requests != null && spent.requests() > requests;
    return beyond ? Optional.of(requests + " requests") : Optional.empty();
  }

  /** The limit that allows no further judgement, in words. */
  public Optional<String> refusesTrial(Spent spent, double wall) {
    if (tokens != null && spent.tokens() >= tokens) return Optional.of(tokens + " tokens");
    if (usd != null && spent.usd() >= usd) return Optional.of(amount(usd) + " USD");
    if (wallSeconds != null && wall >= wallSeconds) {
      return Optional.of(amount(wallSeconds) + " wall seconds");
    }
    if (deviceSeconds != null && spent.deviceSeconds() >= deviceSeconds) {
      return Optional.of(amount(deviceSeconds) + " device seconds");
    }
    return Optional.empty();
  }

  /** The amount as it was asked for: {@code 0.5}, {@code 600}. */
  private static String amount(double limit) {
    return BigDecimal.valueOf(limit).stripTrailingZeros().toPlainString();
  }
}
