package dev.kbx.method;

import dev.kbx.method.History.Outcome;
import java.util.Optional;

/**
 * One prompt, one reply, whatever is in it. Several samples are several trajectories. Nothing is
 * judged: the answer is the reply's kernel.
 */
final class Single implements Method {
  private static final String ONLY = "reply";

  @Override
  public Next next(Assignment assignment, History history) {
    Optional<Outcome> only = history.of(ONLY);
    if (only.isPresent() && (only.get().failure() != null || only.get().extracted())) {
      return new Next.Done(Selections.last(history));
    }
    return Next.Work.ask(Asks.first(assignment, ONLY, 0));
  }

  @Override
  public int mostCalls() {
    return 1;
  }
}
