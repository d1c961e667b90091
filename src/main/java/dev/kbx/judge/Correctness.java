package dev.kbx.judge;

import dev.kbx.candidate.Candidate;
import dev.kbx.device.OraclePool;
import dev.kbx.device.Slot;
import dev.kbx.outcome.Outcome;
import dev.kbx.plan.Limits;
import dev.kbx.plan.Plan;
import dev.kbx.plan.Tolerance;
import dev.kbx.task.Policy;
import dev.kbx.verdict.Stage;
import dev.kbx.worker.Oracle;
import dev.kbx.worker.OracleMessage;
import dev.kbx.worker.Runner;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The call and correctness stages of one candidate, on a slot whose device may be shared. */
final class Correctness {
  private final Slot slot;
  private final Plan plan;
  private final Candidate candidate;
  private final JudgementBuilder draft;
  private final boolean alone;
  private boolean sized;

  /**
   * @param alone whether nobody else uses the device
   */
  Correctness(Slot slot, Plan plan, Candidate candidate, JudgementBuilder draft, boolean alone) {
    this.slot = slot;
    this.plan = plan;
    this.candidate = candidate;
    this.draft = draft;
    this.alone = alone;
  }

  /**
   * Goes as far as the plan says, and at most to the correctness stage.
   *
   * @param files what was compiled ahead
   */
  Outcome judge(Map<String, String> files) throws InterruptedException {
    try (OraclePool.Borrowed borrowed = slot.borrow()) {
      Outcome outcome = judge(borrowed.oracle(), files);
      borrowed.sound();
      return outcome;
    }
  }

  private Outcome judge(Oracle oracle, Map<String, String> files) throws InterruptedException {
    Runner runner = slot.runner(plan, oracle.hello());
    try (Session session = new Session(oracle, runner, plan, candidate, draft)) {
      Outcome outcome;
      try {
        outcome = calls(session, files);
      } catch (Oracle.Refused e) {
        outcome = Outcome.refused(e.answer());
      }
      session.end();
      return session.leave(outcome);
    }
  }

  /** Whether the task has benchmark sizes; known once judged. */
  boolean sized() {
    return sized;
  }

  private Outcome calls(Session session, Map<String, String> files)
      throws InterruptedException, Oracle.Refused {
    OracleMessage.Opened task = session.open(false, alone);
    sized = !task.sizes().isEmpty();
    long start = System.nanoTime();
    Optional<Outcome> decided = session.load(task, files);
    draft.spent(Stage.CALL, (System.nanoTime() - start) / 1e9);
    if (decided.isEmpty()) {
      draft.flags(restsOn(task));
      decided = new Calls(session, plan, draft, Limits.ORACLE).judge(task.calls());
    }
    if (decided.isEmpty() && task.module() != null && plan.reaches(Stage.CORRECT)) {
      new OtherWeights(session.oracle(), session.runner(), draft).look(plan.limits().call());
    }
    if (decided.isEmpty()) {
      decided = draft.origins().judge(Policy.of(candidate.task()), Stage.CORRECT, "");
    }
    return decided.orElseGet(() -> Outcome.correct(lastBeforePerf(plan.stages())));
  }

  /** What the verdict rests on from the first call on, where that is not what one would expect. */
  private List<String> restsOn(OracleMessage.Opened task) {
    List<String> flags = new ArrayList<>();
    if (Boolean.TRUE.equals(task.scaled())) flags.add("scaled_inputs");
    if (plan.tolerance() == Tolerance.PUBLISHED) flags.add(Tolerance.FLAG);
    if (candidate.task().isDegenerate()) flags.add("degenerate_task");
    return flags;
  }

  private static Stage lastBeforePerf(List<Stage> stages) {
    return stages.getLast() == Stage.PERF ? Stage.CORRECT : stages.getLast();
  }
}
