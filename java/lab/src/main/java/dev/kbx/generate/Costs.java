package dev.kbx.generate;

import dev.kbx.llm.ChatReply.Usage;
import dev.kbx.method.Event;
import dev.kbx.method.ProgramAnswer;
import dev.kbx.verdict.Spent;
import org.jspecify.annotations.Nullable;

/** What events of a run cost. */
final class Costs {
  private Costs() {}

  /** The cost of so many calls, each with one request. */
  static Spent calls(long calls) {
    return new Spent.Amounts().calls(calls).requests(calls).spent();
  }

  /** The cost of so many requests for calls that are counted. */
  static Spent repeated(long requests) {
    return new Spent.Amounts().requests(requests).spent();
  }

  /** What an event cost. A call is counted when it is sent. */
  static Spent of(Event event) {
    return switch (event) {
      case Event.Prompt _ -> calls(1);
      case Event.Lost _ -> new Spent.Amounts().lost(1).uncounted(1).unpriced(1).spent();
      case Event.Reply e ->
          e.cached()
              ? calls(-1)
              : paid(e.attempts(), e.unmetered(), e.usage(), e.usd(), e.seconds());
      case Event.NoReply e -> paid(e.attempts(), e.unmetered(), e.usage(), e.usd(), e.seconds());
      case Event.Exchange e -> calls(1).plus(paid(1, null, e.usage(), e.usd(), e.seconds()));
      case Event.Judged e -> new Spent.Amounts().deviceSeconds(e.deviceSeconds()).spent();
      case Event.Program e ->
          e.answer().usage() == null ? Spent.NOTHING : reported(e.answer().usage());
      case Event.Feedback _,
          Event.Extraction _,
          Event.RecordedSpeedup _,
          Event.ProgramFailed _,
          Event.AgentEnded _,
          Event.Cap _,
          Event.Selection _ ->
          Spent.NOTHING;
    };
  }

  /** The first of the requests was counted with its prompt; if none was sent it is given back. */
  private static Spent paid(
      int attempts,
      @Nullable Integer unmetered,
      @Nullable Usage usage,
      @Nullable Double usd,
      double seconds) {
    boolean known = usage != null && usage.input() != null && usage.output() != null;
    int uncounted = unmetered == null ? (known ? 0 : 1) : unmetered;
    return new Spent.Amounts()
        .requests(attempts - 1L)
        .tokens(usage == null ? 0 : tokens(usage.input()) + tokens(usage.output()))
        .uncounted(uncounted)
        .usd(usd(usd))
        .unpriced(usd == null ? attempts : uncounted)
        .modelSeconds(seconds)
        .spent();
  }

  private static Spent reported(ProgramAnswer.Reported usage) {
    boolean known = usage.input() != null && usage.output() != null;
    return new Spent.Amounts()
        .calls(usage.calls())
        .requests(usage.calls())
        .reported(usage.calls())
        .tokens(tokens(usage.input()) + tokens(usage.output()))
        .uncounted(known ? 0 : usage.calls())
        .usd(usd(usage.usd()))
        .unpriced(usage.usd() == null ? usage.calls() : 0)
        .spent();
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
  static Spent released(Spent spent) {
    return new Spent.Amounts()
        .calls(-Math.max(0, spent.calls()))
        .requests(-Math.max(0, spent.requests()))
        .spent();
  }
}
