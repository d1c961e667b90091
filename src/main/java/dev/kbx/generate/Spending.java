package dev.kbx.generate;

import dev.kbx.llm.Usage;
import dev.kbx.method.Event;
import dev.kbx.method.ProgramAnswer;
import org.jspecify.annotations.Nullable;

/**
 * What was spent. Cached replies are free.
 *
 * @param calls what methods asked, what was lost included
 * @param requests sent for that: more than the calls where some had to be repeated
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
    long requests,
    long lost,
    long tokens,
    long uncounted,
    double usd,
    long unpriced,
    double modelSeconds,
    double deviceSeconds,
    long reported) {
  public static final Spending NOTHING = new Spending(0, 0, 0, 0, 0, 0, 0, 0, 0, 0);

  /** So many calls, each with one request. */
  static Spending calls(long calls) {
    return new Spending(calls, calls, 0, 0, 0, 0, 0, 0, 0, 0);
  }

  /** So many requests for calls that are counted. */
  static Spending repeated(long requests) {
    return new Spending(0, requests, 0, 0, 0, 0, 0, 0, 0, 0);
  }

  /** With what an event cost. A call is counted when it is sent. */
  Spending with(Event event) {
    return switch (event) {
      case Event.Prompt _ -> plus(calls(1));
      case Event.Lost _ -> plus(new Spending(0, 0, 1, 0, 1, 0, 1, 0, 0, 0));
      case Event.Reply e ->
          e.cached()
              ? plus(calls(-1))
              : plus(paid(e.attempts(), e.unmetered(), e.usage(), e.usd(), e.seconds()));
      case Event.NoReply e ->
          plus(paid(e.attempts(), e.unmetered(), e.usage(), e.usd(), e.seconds()));
      case Event.Judged e -> plus(new Spending(0, 0, 0, 0, 0, 0, 0, 0, e.deviceSeconds(), 0));
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

  /** The first of the requests was counted with its prompt. */
  private static Spending paid(
      int attempts,
      @Nullable Integer unmetered,
      @Nullable Usage usage,
      @Nullable Double usd,
      double seconds) {
    boolean known = usage != null && usage.input() != null && usage.output() != null;
    int uncounted = unmetered == null ? (known ? 0 : 1) : unmetered;
    return new Spending(
        0,
        attempts - 1L,
        0,
        usage == null ? 0 : tokens(usage.input()) + tokens(usage.output()),
        uncounted,
        usd == null ? 0 : usd,
        usd == null ? Math.max(1, attempts) : uncounted,
        seconds,
        0,
        0);
  }

  private static Spending reported(ProgramAnswer.Reported usage) {
    return new Spending(
        usage.calls(),
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
        requests + other.requests,
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
