package dev.kbx.generate;

import dev.kbx.method.Event;
import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict.Speedup;
import org.jspecify.annotations.Nullable;

/**
 * One request of a trajectory and what came of it, without its texts.
 *
 * @param code whether the reply has code
 * @param status on development inputs; null if it was not judged there, as is {@code speedup}
 * @param recorded the speedup in the ledger that was replayed; null if there is none
 * @param spent by the trajectory up to the last event of this round
 */
public record RoundRecord(
    String ask,
    boolean code,
    @Nullable Status status,
    @Nullable Speedup speedup,
    Event.@Nullable RecordedSpeedup recorded,
    Spending spent) {
  static RoundRecord of(String ask) {
    return new RoundRecord(ask, false, null, null, null, Spending.NOTHING);
  }

  /** With one more event, after which the trajectory had spent so much. */
  RoundRecord with(Event event, Spending now) {
    return switch (event) {
      case Event.Extraction e ->
          new RoundRecord(ask, e.code() != null, status, speedup, recorded, now);
      case Event.Program _ -> new RoundRecord(ask, true, status, speedup, recorded, now);
      case Event.RecordedSpeedup e -> new RoundRecord(ask, code, status, speedup, e, now);
      case Event.Judged e -> judged(e.judgement(), now);
      case Event.Prompt _,
          Event.Reply _,
          Event.NoReply _,
          Event.Lost _,
          Event.Feedback _,
          Event.ProgramFailed _,
          Event.Cap _,
          Event.Selection _ ->
          new RoundRecord(ask, code, status, speedup, recorded, now);
    };
  }

  private RoundRecord judged(Judgement found, Spending now) {
    return new RoundRecord(ask, code, found.status(), found.speedup(), recorded, now);
  }

  /** Whether its kernel is correct on development inputs. */
  public boolean isCorrect() {
    return status == Status.CORRECT;
  }
}
