package dev.kbx.generate;

import dev.kbx.llm.Usage;
import dev.kbx.method.Event;
import dev.kbx.method.ProgramAnswer;
import org.jspecify.annotations.Nullable;

/**
 * What was spent. Cached replies are free.
 *
 * @param calls requests, those included that were lost
 * @param lost requests in flight when kbx was killed
 * @param tokens input and output, as far as providers told
 * @param uncounted requests whose tokens are not known, or only in part
 * @param usd as far as prices are known
 * @param unpriced requests whose cost is not known
 * @param modelSeconds of waiting for replies
 * @param deviceSeconds of judging
 * @param reported requests among the calls that a program made itself, by its own word, as are
 *     their tokens and costs
 */
public record Spending(
    long calls,
    long lost,
    long tokens,
    long uncounted,
    double usd,
    long unpriced,
    double modelSeconds,
    double deviceSeconds,
    long reported) {
  public static final Spending NOTHING = new Spending(0, 0, 0, 0, 0, 0, 0, 0, 0);

  /** So many requests. */
  static Spending calls(long calls) {
    return new Spending(calls, 0, 0, 0, 0, 0, 0, 0, 0);
  }

  /** With what an event cost. A call is counted when it is sent. */
  Spending with(Event event) {
    return switch (event) {
      case Event.Prompt _ -> plus(calls(1));
      case Event.Lost _ -> plus(new Spending(0, 1, 0, 1, 0, 1, 0, 0, 0));
      case Event.Reply e ->
          e.cached() ? plus(calls(-1)) : plus(paid(e.usage(), e.usd(), e.seconds()));
      case Event.NoReply e -> plus(paid(e.usage(), e.usd(), e.seconds()));
      case Event.Judged e -> plus(new Spending(0, 0, 0, 0, 0, 0, 0, e.deviceSeconds(), 0));
      case Event.Program e ->
          e.answer().usage() == null ? this : plus(reported(e.answer().usage()));
      case Event.Feedback _,
          Event.Extraction _,
          Event.RecordedSpeedup _,
          Event.ProgramFailed _,
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
        usage == null || usage.input() == null || usage.output() == null ? 1 : 0,
        usd == null ? 0 : usd,
        usd == null ? 1 : 0,
        seconds,
        0,
        0);
  }

  private static Spending reported(ProgramAnswer.Reported usage) {
    return new Spending(
        usage.calls(),
        0,
        tokens(usage.input()) + tokens(usage.output()),
        usage.input() == null || usage.output() == null ? usage.calls() : 0,
        usage.usd() == null ? 0 : usage.usd(),
        usage.usd() == null ? usage.calls() : 0,
        0,
        0,
        usage.calls());
  }

  private static long tokens(@Nullable Long known) {
    return known == null ? 0 : known;
  }

  Spending plus(Spending other) {
    return new Spending(
        calls + other.calls,
        lost + other.lost,
        tokens + other.tokens,
        uncounted + other.uncounted,
        usd + other.usd,
        unpriced + other.unpriced,
        modelSeconds + other.modelSeconds,
        deviceSeconds + other.deviceSeconds,
        reported + other.reported);
  }
}
