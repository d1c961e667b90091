package dev.kbx.judge;

import dev.kbx.candidate.Candidate;
import dev.kbx.device.ConcurrencyLimit;
import dev.kbx.device.Gpu;
import dev.kbx.device.OraclePool;
import dev.kbx.device.SharedExclusiveLock;
import dev.kbx.device.Slot;
import dev.kbx.outcome.Outcome;
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
import java.util.Optional;
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
   * Why kbx fails on it, too; empty if every call of the published grade can be prepared, made and
   * compared, each with a complete account of who computed. In a fresh process, alone on the
   * device; once more if that fails, since a busy machine may be at fault once.
   */
  Optional<String> failure() throws InterruptedException {
    Gpu gpu = slot.gpu();
    if (gpu == null) return failedTwice();
    try (ConcurrencyLimit.Pass _ = gpu.admit();
        SharedExclusiveLock.Held _ = gpu.lease().alone()) {
      return failedTwice();
    }
  }

  private Optional<String> failedTwice() throws InterruptedException {
    return failedOnce().isEmpty() ? Optional.empty() : failedOnce();
  }

  private Optional<String> failedOnce() throws InterruptedException {
    try (OraclePool.Borrowed borrowed = slot.borrow()) {
      Oracle oracle = borrowed.oracle();
      Runner runner = slot.runner(plan, oracle.hello());
      JudgementBuilder unused = new JudgementBuilder(plan.policy(candidate.task()), null);
      try (Session session = new Session(oracle, runner, plan, candidate, unused, Ahead.NOTHING)) {
        Optional<String> failed = failed(session, opened(session, borrowed));
        borrowed.sound();
        return failed;
      }
    } catch (Oracle.Refused | WorkerFailure | Runner.Lost | TimeoutException e) {
      return Optional.of(String.valueOf(e));
    }
  }

  private static OracleMessage.Opened opened(Session session, OraclePool.Borrowed borrowed)
      throws InterruptedException, Oracle.Refused {
    try {
      return session.open(false, true);
    } catch (Oracle.Refused e) {
      if (e.isOfTheDevice()) borrowed.sound();
      throw e;
    }
  }

  private Optional<String> failed(Session session, OracleMessage.Opened task)
      throws InterruptedException, Oracle.Refused, Runner.Lost, TimeoutException {
    Optional<Outcome> unloaded = session.load(task);
    if (unloaded.isPresent()) return Optional.of(String.valueOf(unloaded.get().message()));
    List<OracleMessage.PlannedCall> calls =
        DevelopmentCalls.of(plan.inputs(), task.calls()).stream()
            .filter(OracleMessage.PlannedCall::published)
            .toList();
    for (OracleMessage.PlannedCall call : calls) {
      Optional<String> failed = failed(session, call);
      if (failed.isPresent()) return failed;
    }
    return calls.isEmpty()
        ? Optional.of("there is no call of the published grade")
        : Optional.empty();
  }

  private Optional<String> failed(Session session, OracleMessage.PlannedCall call)
      throws InterruptedException, Oracle.Refused, Runner.Lost, TimeoutException {
    OracleMessage.Prepared inputs =
        session
            .oracle()
            .ask(
                OracleMessage.Prepared.class,
                id -> new OracleMessage.Prepare(id, call.index()),
                Limits.ORACLE);
    if (inputs.idle()) return Optional.empty();
    Message answer =
        session
            .runner()
            .ask(
                RunnerMessage.Returned.class,
                id -> new RunnerMessage.Call(id, inputs.args(), inputs.kwargs(), null, false),
                plan.limits().call());
    if (!(answer instanceof RunnerMessage.Returned returned)) {
      return Optional.of("it raises in call " + call.index());
    }
    var _ =
        session
            .oracle()
            .ask(
                OracleMessage.Checked.class,
                id -> new OracleMessage.Check(id, call.index(), returned.value()),
                Limits.ORACLE);
    return returned.origin() != null || lacksBuffers(returned)
        ? Optional.empty()
        : Optional.of("call %d has no account of who computed".formatted(call.index()));
  }

  /** Whether it was not called, as it has none of the module's buffers. */
  private static boolean lacksBuffers(RunnerMessage.Returned returned) {
    return returned.value().path("t").asString("").equals("lacking");
  }
}
