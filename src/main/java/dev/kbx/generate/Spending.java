package dev.kbx.generate;

import dev.kbx.llm.ChatReply.Usage;
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
  public static final Spending NOTHING = new Amounts().spending();

  /** So many calls, each with one request. */
  static Spending calls(long calls) {
    return new Amounts().calls(calls).requests(calls).spending();
  }

  /** So many requests for calls that are counted. */
  static Spending repeated(long requests) {
    return new Amounts().requests(requests).spending();
  }

  /** With what an event cost. A call is counted when it is sent. */
  Spending with(Event event) {
    return switch (event) {
      case Event.Prompt _ -> plus(calls(1));
      case Event.Lost _ -> plus(new Amounts().lost(1).uncounted(1).unpriced(1).spending());
      case Event.Reply e ->
          e.cached()
              ? plus(calls(-1))
              : plus(paid(e.attempts(), e.unmetered(), e.usage(), e.usd(), e.seconds()));
      case Event.NoReply e ->
          plus(paid(e.attempts(), e.unmetered(), e.usage(), e.usd(), e.seconds()));
      case Event.Judged e -> plus(new Amounts().deviceSeconds(e.deviceSeconds()).spending());
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

  /** The first of the requests was counted with its prompt; if none was sent it is given back. */
  private static Spending paid(
      int attempts,
      @Nullable Integer unmetered,
      @Nullable Usage usage,
      @Nullable Double usd,
      double seconds) {
    boolean known = usage != null && usage.input() != null && usage.output() != null;
    int uncounted = unmetered == null ? (known ? 0 : 1) : unmetered;
    return new Amounts()
        .requests(attempts - 1L)
        .tokens(usage == null ? 0 : tokens(usage.input()) + tokens(usage.output()))
        .uncounted(uncounted)
        .usd(usd(usd))
        .unpriced(usd == null ? attempts : uncounted)
        .modelSeconds(seconds)
        .spending();
  }

  private static Spending reported(ProgramAnswer.Reported usage) {
    boolean known = usage.input() != null && usage.output() != null;
    return new Amounts()
        .calls(usage.calls())
        .requests(usage.calls())
        .reported(usage.calls())
        .tokens(tokens(usage.input()) + tokens(usage.output()))
        .uncounted(known ? 0 : usage.calls())
        .usd(usd(usage.usd()))
        .unpriced(usage.usd() == null ? usage.calls() : 0)
        .spending();
  }

  private static long tokens(@Nullable Long known) {
    return known == null ? 0 : known;
  }

  private static double usd(@Nullable Double known) {
    return known == null ? 0 : known;
  }

  /**
   * What of a reservation is no longer needed as this was spent. What was not sent after all is
   * negative here, and was never reserved a second time.
   */
  Spending released() {
    return new Amounts().calls(-Math.max(0, calls)).requests(-Math.max(0, requests)).spending();
  }

  Spending plus(Spending other) {
    return new Amounts()
        .calls(calls + other.calls)
        .requests(requests + other.requests)
        .lost(lost + other.lost)
        .tokens(tokens + other.tokens)
        .uncounted(uncounted + other.uncounted)
        .usd(usd + other.usd)
        .unpriced(unpriced + other.unpriced)
        .modelSeconds(modelSeconds + other.modelSeconds)
        .deviceSeconds(deviceSeconds + other.deviceSeconds)
        .reported(reported + other.reported)
        .spending();
  }

  /** Amounts by name, each 0 unless it is set: ten numbers in a row are easily mistaken. */
  private static final class Amounts {
    private long calls;
    private long requests;
    private long lost;
    private long tokens;
    private long uncounted;
    private double usd;
    private long unpriced;
    private double modelSeconds;
    private double deviceSeconds;
    private long reported;

    Amounts calls(long many) {
      calls = many;
      return this;
    }

    Amounts requests(long many) {
      requests = many;
      return this;
    }

    Amounts lost(long many) {
      lost = many;
      return this;
    }

    Amounts tokens(long many) {
      tokens = many;
      return this;
    }

    Amounts uncounted(long many) {
      uncounted = many;
      return this;
    }

    Amounts usd(double amount) {
      usd = amount;
      return this;
    }

    Amounts unpriced(long many) {
      unpriced = many;
      return this;
    }

    Amounts modelSeconds(double amount) {
      modelSeconds = amount;
      return this;
    }

    Amounts deviceSeconds(double amount) {
      deviceSeconds = amount;
      return this;
    }

    Amounts reported(long many) {
      reported = many;
      return this;
    }

    Spending spending() {
      return new Spending(
          calls,
          requests,
          lost,
          tokens,
          uncounted,
          usd,
          unpriced,
          modelSeconds,
          deviceSeconds,
          reported);
    }
  }
}
