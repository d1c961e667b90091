package dev.kbx.method;

import dev.kbx.method.History.Outcome;
import dev.kbx.method.Next.Answer;
import dev.kbx.method.Next.Ask;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Turn after turn, each with the prompt of the first and the latest kernel (or all) with what the
 * referee found, as KernelBench's iterative refinement does.
 *
 * @param turns the most turns
 * @param answer which kernel counts
 */
record Refine(int turns, Choice answer) implements Method {
  @Override
  public Next next(Method.Assignment assignment, History history) {
    Steps steps = new Steps(history);
    List<Outcome> earlier = new ArrayList<>();
    for (int turn = 0; turn < turns; turn++) {
      String id = "turn-" + turn;
      Optional<Outcome> outcome = steps.kernel(id, () -> ask(assignment, id, earlier));
      if (outcome.isEmpty()) return steps.work();
      earlier.add(outcome.get());
    }
    return new Next.Done(answer(assignment, history));
  }

  private static Ask ask(Method.Assignment assignment, String id, List<Outcome> earlier) {
    return earlier.isEmpty() ? Asks.first(assignment, id, 0) : Asks.next(assignment, id, earlier);
  }

  @Override
  public Answer answer(Method.Assignment assignment, History history) {
    return answer.of(history);
  }

  @Override
  public int mostCalls() {
    return turns;
  }
}
