package dev.kbx.run;

import dev.kbx.candidate.Candidate;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict;
import dev.kbx.worker.WorkerFailure;
import java.util.Map;
import java.util.Optional;

/**
 * Takes one candidate through its stages: static, then a {@link Session} with oracle and runner.
 *
 * <p>Used by one thread at a time, on one slot.
 */
final class Judge {
  /**
   * A trusted process that fails is started again this often before the verdict is {@code
   * infrastructure}.
   */
  private static final int RETRIES = 2;

  private final Workers.Slot slot;
  private final Plan plan;
  private final Verdict.Device device;
  private final Map<String, String> versions;

  Judge(Workers.Slot slot, Plan plan, Verdict.Device device, Map<String, String> versions) {
    this.slot = slot;
    this.plan = plan;
    this.device = device;
    this.versions = versions;
  }

  /** The verdict on a candidate in {@code run}. Throws only when the thread is interrupted. */
  Verdict judge(String run, Candidate candidate) throws InterruptedException {
    Draft statics = new Draft();
    Optional<Outcome> decided = Statics.decide(candidate, plan, statics);
    Draft draft = statics;
    for (int attempt = 0; decided.isEmpty(); attempt++) {
      draft = new Draft(statics);
      try {
        Outcome outcome = new Session(slot, plan, candidate, draft).judge();
        if (outcome.status() == Status.CORRECT) compare(candidate, draft);
        decided = Optional.of(outcome);
      } catch (WorkerFailure e) {
        slot.reset();
        if (attempt == RETRIES) {
          decided = Optional.of(Outcome.of(Status.INFRASTRUCTURE, Stage.CALL, e.getMessage()));
        }
      } catch (RuntimeException e) {
        // A fault of kbx, which one candidate has met: the others are judged all the same.
        slot.reset();
        decided =
            Optional.of(
                Outcome.of(
                    Status.INFRASTRUCTURE, Stage.CALL, "kbx failed on this candidate: " + e));
      }
    }
    return draft.verdict(run, candidate, plan, device, versions, decided.get());
  }

  /** After the candidate's process: it could make a baseline slow that others are measured by. */
  private void compare(Candidate candidate, Draft draft) throws InterruptedException {
    Timing.Result timing = draft.timing();
    if (timing == null) return;
    draft.comparison(Comparison.of(timing, candidate, plan, slot.compiledBaselines()));
  }
}
