package dev.kbx.generate;

import dev.kbx.llm.Usage;
import dev.kbx.method.Event;
import org.jspecify.annotations.Nullable;

/**
 * What was spent. Cached replies are free.
 *
 * @param calls requests, those included that were lost
 * @param lost requests in flight when kbx was killed
 * @param tokens input and output, as far as providers told
 * @param usd as far as prices are known
 * @param unpriced requests whose cost is not known
 * @param modelSeconds of waiting for replies
 * @param deviceSeconds of judging
 */
public record Spending(
    long calls,
    long lost,
    long tokens,
    double usd,
    long unpriced,
    double modelSeconds,
    double deviceSeconds) {
  public static final Spending NOTHING = new Spending(0, 0, 0, 0, 0, 0, 0);

  /** With what an event cost. A call is counted when it is sent. */
  Spending with(Event event) {
    return switch (event) {
      case Event.Prompt _ -> plus(new Spending(1, 0, 0, 0, 0, 0, 0));
      case Event.Lost _ -> plus(new Spending(0, 1, 0, 0, 1, 0, 0));
      case Event.Reply e ->
          e.cached()
              ? plus(new Spending(-1, 0, 0, 0, 0, 0, 0))
              : plus(paid(e.usage(), e.usd(), e.seconds()));
      case Event.NoReply e -> plus(paid(e.usage(), e.usd(), e.seconds()));
      case Event.Judged e -> plus(new Spending(0, 0, 0, 0, 0, 0, e.deviceSeconds()));
      case Event.Feedback _,
          Event.Extraction _,
          Event.RecordedSpeedup _,
          Event.Cap _,
          Event.Selection _ ->
          this;
    };
  }

  private static Spending paid(@Nullable Usage usage, @Nullable Double usd, double seconds) {
    return new Spending(
        0,
        0,
        usage == null ? 0 : tokens(usage.input()) + tokens(usage.output()),
        usd == null ? 0 : usd,
        usd == null ? 1 : 0,
        seconds,
        0);
  }

  private static long tokens(@Nullable Long known) {
    return known == null ? 0 : known;
  }

  Spending plus(Spending other) {
    return new Spending(
        calls + other.calls,
        lost + other.lost,
        tokens + other.tokens,
        usd + other.usd,
        unpriced + other.unpriced,
        modelSeconds + other.modelSeconds,
        deviceSeconds + other.deviceSeconds);
  }
}
