package dev.kbx.generate;

import dev.kbx.method.Event;
import dev.kbx.method.History;
import dev.kbx.method.ProgramAnswer;
import dev.kbx.verdict.Judgement;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A turn of a session, in which a client of {@code kbx serve} is the program of an external method:
 * it sends one kernel a turn.
 *
 * @param number from 0
 * @param judgement on development inputs; null if there is none
 */
public record SessionTurn(
    int number, String code, Instant sent, @Nullable Judgement judgement, @Nullable Instant found) {

  /** The id of its kernel in the trajectory. */
  public String ask() {
    return "turn-" + number;
  }

  /** What happened in it. */
  List<Event> events() {
    Event answer = answer(number, List.of(new ProgramAnswer.Candidate(ask(), code)), null);
    if (judgement == null) return List.of(answer);
    double seconds = Generation.DevelopmentJudge.seconds(judgement);
    return List.of(answer, new Event.Judged(ask(), judgement, seconds));
  }

  static Event answer(
      int number, List<ProgramAnswer.Candidate> judge, ProgramAnswer.@Nullable Done done) {
    return new Event.Program(number, new ProgramAnswer(List.of(), judge, done, null));
  }

  /** What happened in these turns. */
  public static History history(List<SessionTurn> turns) {
    History history = History.empty();
    for (SessionTurn turn : turns) {
      for (Event event : turn.events()) history = history.with(event);
    }
    return history;
  }
}
