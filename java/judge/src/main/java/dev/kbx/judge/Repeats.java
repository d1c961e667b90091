package dev.kbx.judge;

import dev.kbx.candidate.Candidate;
import dev.kbx.plan.Plan;
import dev.kbx.verdict.Verdict;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.IntStream;

/**
 * Judges candidates to measure the machine: every candidate is judged, even if it is the same one
 * again, and nothing is stored or cached.
 */
public final class Repeats {
  private static final String RUN = "repeats";

  private final Referee referee;
  private final Plan plan;

  public Repeats(Referee referee, Plan plan) {
    this.referee = referee;
    this.plan = plan;
  }

  /**
   * Judges candidates in approximately this order.
   *
   * @param listener receives each verdict when it is decided, one at a time
   * @return a verdict for each candidate, in the candidates' order
   */
  public List<Verdict> judge(List<Candidate> candidates, Consumer<Verdict> listener)
      throws InterruptedException {
    Verdict[] verdicts = new Verdict[candidates.size()];
    List<Integer> positions = IntStream.range(0, verdicts.length).boxed().toList();
    Dispatcher.run(
        referee.capacity(),
        positions,
        position -> {
          Candidate candidate = candidates.get(position);
          Verdict verdict = referee.judge(candidate, plan).on(candidate.provenance(RUN));
          synchronized (verdicts) {
            verdicts[position] = verdict;
            listener.accept(verdict);
          }
        });
    synchronized (verdicts) {
      return List.of(verdicts);
    }
  }
}
