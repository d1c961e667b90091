package dev.kbx.run;

import dev.kbx.candidate.Candidate;
import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.Verdict;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Judges candidates to learn of the machine and not of them: every one is judged, however often the
 * same one comes, and nothing is stored or remembered.
 */
public final class Repeats {
  private static final String RUN = "repeats";

  private final List<Workers.Slot> slots;
  private final Plan plan;
  private final Verdict.Device device;
  private final Map<String, String> versions;

  public Repeats(
      List<Workers.Slot> slots, Plan plan, Verdict.Device device, Map<String, String> versions) {
    this.slots = List.copyOf(slots);
    this.plan = plan;
    this.device = device;
    this.versions = Map.copyOf(versions);
  }

  /**
   * Judges candidates in about this order, over all slots.
   *
   * @param listener hears of every verdict as it falls, one at a time
   * @return a verdict for each candidate, in the candidates' order
   */
  public List<Verdict> judge(List<Candidate> candidates, Consumer<Verdict> listener)
      throws InterruptedException {
    List<Integer> positions = Collections.synchronizedList(new ArrayList<>());
    Verdict[] verdicts = new Verdict[candidates.size()];
    for (int i = 0; i < verdicts.length; i++) positions.add(i);
    Dispatcher.run(
        slots,
        positions,
        (slot, position) -> {
          Candidate candidate = candidates.get(position);
          Judgement judgement = new Judge(slot, plan, device, versions).judge(candidate);
          Verdict verdict = judgement.on(candidate.provenance(RUN));
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
