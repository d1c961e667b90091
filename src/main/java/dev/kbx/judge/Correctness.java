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

/** Runs the call and correctness stages of one candidate, on a slot whose device may be shared. */
final class Correctness {
  private final Slot slot;
  private final Plan plan;
  private final Candidate candidate;
  private final JudgementBuilder draft;
  private final boolean alone;
  private boolean sized;

  /**
   * @param alone whether the candidate has the device exclusively
   */
  Correctness(Slot slot, Plan plan, Candidate candidate, JudgementBuilder draft, boolean alone) {
    this.slot = slot;
    this.plan = plan;
    this.candidate = candidate;
    this.draft = draft;
    this.alone = alone;
  }

  /**
   * Runs the stages that the plan asks for, up to correctness.
   *
   * @param files binaries that were compiled ahead
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

  /** Whether the task has benchmark sizes; known after {@link #judge}. */
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

  /** Flags that say what the verdict is based on, from the first call on, if that is unusual. */
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
