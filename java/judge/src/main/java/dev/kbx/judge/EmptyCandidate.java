package dev.kbx.judge;

import dev.kbx.candidate.Candidate;
import dev.kbx.device.ConcurrencyLimit;
import dev.kbx.device.Gpu;
import dev.kbx.device.OraclePool;
import dev.kbx.device.SharedExclusiveLock;
import dev.kbx.device.Slot;
import dev.kbx.plan.Limits;
import dev.kbx.plan.Plan;
import dev.kbx.task.Task;
import dev.kbx.worker.Message;
import dev.kbx.worker.Oracle;
import dev.kbx.worker.OracleMessage;
import dev.kbx.worker.Runner;
import dev.kbx.worker.RunnerMessage;
import dev.kbx.worker.WorkerFailure;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;

/**
 * A candidate that does nothing, in place of one that kbx has failed on: if kbx can judge it, the
 * failure was the other candidate's doing.
 */
final class EmptyCandidate {
  private static final String FUNCTION =
      """
      def %s(*args, **kwargs):
          return None
      """;

  private static final String MODULE =
      """
      import torch


      class %s(torch.nn.Module):
          def __init__(self, *args, **kwargs):
              super().__init__()

          def forward(self, *args, **kwargs):
              return None
      """;

  private final Slot slot;
  private final Plan plan;
  private final Candidate candidate;

  /**
   * @param failed the candidate that kbx has failed on
   */
  EmptyCandidate(Slot slot, Plan plan, Candidate failed) {
    this.slot = slot;
    this.plan = plan;
    this.candidate =
        new Candidate(failed.task(), source(failed.task()), failed.origin(), 0, null, null, null);
  }

  private static String source(Task task) {
    String form = task.isModule() ? MODULE : FUNCTION;
    return task.entries().stream().map(form::formatted).collect(Collectors.joining("\n"));
  }

  /**
   * Whether every call of the published grade can be prepared, made and compared, each with a
   * complete account of who computed. In fresh processes, alone on the device.
   */
  boolean isJudged() throws InterruptedException {
    Gpu gpu = slot.gpu();
    if (gpu == null) return isJudgedHere();
    try (ConcurrencyLimit.Pass _ = gpu.admit();
        SharedExclusiveLock.Held _ = gpu.lease().alone()) {
      return isJudgedHere();
    }
  }

  private boolean isJudgedHere() throws InterruptedException {
    try (OraclePool.Borrowed borrowed = slot.borrow()) {
      Oracle oracle = borrowed.oracle();
      Runner runner = slot.runner(plan, oracle.hello());
      JudgementBuilder unused = new JudgementBuilder(plan.policy(candidate.task()), null);
      try (Session session = new Session(oracle, runner, plan, candidate, unused)) {
        boolean judged = isJudged(session, session.open(false, true));
        borrowed.sound();
        return judged;
      }
    } catch (Oracle.Refused | WorkerFailure | Runner.Lost | TimeoutException e) {
      return false;
    }
  }

  private boolean isJudged(Session session, OracleMessage.Opened task)
      throws InterruptedException, Oracle.Refused, Runner.Lost, TimeoutException {
    if (session.load(task, Map.of()).isPresent()) return false;
    List<OracleMessage.PlannedCall> calls =
        DevelopmentCalls.of(plan.inputs(), task.calls()).stream()
            .filter(OracleMessage.PlannedCall::published)
            .toList();
    for (OracleMessage.PlannedCall call : calls) {
      if (!isJudged(session, call)) return false;
    }
    return !calls.isEmpty();
  }

  private boolean isJudged(Session session, OracleMessage.PlannedCall call)
      throws InterruptedException, Oracle.Refused, Runner.Lost, TimeoutException {
    OracleMessage.Prepared inputs =
        session
            .oracle()
            .ask(
                OracleMessage.Prepared.class,
                id -> new OracleMessage.Prepare(id, call.index()),
                Limits.ORACLE);
    if (inputs.idle()) return true;
    Message answer =
        session
            .runner()
            .ask(
                RunnerMessage.Returned.class,
                id -> new RunnerMessage.Call(id, inputs.args(), inputs.kwargs(), null, false),
                plan.limits().call());
    if (!(answer instanceof RunnerMessage.Returned returned)) return false;
    var _ =
        session
            .oracle()
            .ask(
                OracleMessage.Checked.class,
                id -> new OracleMessage.Check(id, call.index(), returned.value()),
                Limits.ORACLE);
    return returned.origin() != null || lacksBuffers(returned);
  }

  /** Whether it was not called, as it has none of the module's buffers. */
  private static boolean lacksBuffers(RunnerMessage.Returned returned) {
    return returned.value().path("t").asString("").equals("lacking");
  }
}
