package dev.kbx.generate;

import dev.kbx.method.History;
import dev.kbx.method.Next;
import dev.kbx.verdict.Judgement;
import org.jspecify.annotations.Nullable;

/**
 * How a trajectory ended.
 *
 * @param development what the referee found about the answer on development inputs; null if it was
 *     not judged
 */
public record Answered(Next.Answer answer, @Nullable Judgement development) {
  static Answered of(Next.Answer answer, History history) {
    String ask = answer.ask();
    Judgement judgement =
        ask == null ? null : history.of(ask).map(History.Outcome::judgement).orElse(null);
    return new Answered(answer, judgement);
  }
}
