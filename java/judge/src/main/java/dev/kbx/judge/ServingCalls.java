package dev.kbx.judge;

import dev.kbx.outcome.Outcome;
import dev.kbx.plan.Limits;
import dev.kbx.plan.Plan;
import dev.kbx.plan.ServingProperty;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Status;
import dev.kbx.worker.Message;
import dev.kbx.worker.Oracle;
import dev.kbx.worker.OracleMessage;
import dev.kbx.worker.OracleMessage.PlannedCall;
import dev.kbx.worker.Runner;
import dev.kbx.worker.RunnerMessage;
import dev.kbx.worker.RunnerMessage.Call.Under;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Calls under conditions that serving makes: another stream, a CUDA graph, large tensors. The
 * candidate's process makes the conditions, so what comes of them is a claim.
 */
final class ServingCalls {
  /** What the last rows, or the programs that ran, have shown. Others may be for want of memory. */
  private static final Set<Status> DECISIVE = Set.of(Status.WRONG_VALUES, Status.OUT_OF_BOUNDS);

  private final Session session;
  private final Plan plan;
  private final boolean onGpu;

  ServingCalls(Session session, Plan plan, boolean onGpu) {
    this.session = session;
    this.plan = plan;
    this.onGpu = onGpu;
  }

  /** A call whose work must go to a stream that is not the default one. Empty if it is right. */
  Optional<Outcome> onStream(PlannedCall call) throws InterruptedException, Oracle.Refused {
    return right(call, Under.STREAM);
  }

  /**
   * Records the first call as a CUDA graph and replays it on the arguments of the second. Empty if
   * that result is right.
   */
  Optional<Outcome> asGraph(PlannedCall recorded, PlannedCall replayed)
      throws InterruptedException, Oracle.Refused {
    Optional<Outcome> unrecorded = right(recorded, Under.CAPTURE);
    return unrecorded.isPresent() ? unrecorded : right(replayed, Under.REPLAY);
  }

  /**
   * Shows what came of a call of the same rows again and again, whose last ones are compared.
   *
   * <p>Without a GPU some programs of each launch run. So a candidate breaks only on a wrong value
   * or an access outside of tensors, and only if the few rows alone are right.
   */
  void large(PlannedCall call, Coverage shown) throws InterruptedException, Oracle.Refused {
    Optional<Outcome> few = onGpu ? Optional.empty() : right(call, null);
    if (few.isPresent()) {
      shown.unknown(ServingProperty.LARGE_INDEX, few.get().why());
      return;
    }
    Optional<Outcome> outcome = right(call, Under.LARGE);
    if (onGpu || outcome.isEmpty() || DECISIVE.contains(outcome.get().status())) {
      shown.show(ServingProperty.LARGE_INDEX, call, outcome);
    } else {
      shown.unknown(ServingProperty.LARGE_INDEX, outcome.get().why());
    }
  }

  /** Two calls that differ only in values; empty if the task has no such calls. */
  static List<PlannedCall> pair(List<PlannedCall> calls) {
    List<PlannedCall> fresh = calls.stream().filter(call -> call.repeats() == null).toList();
    return IntStream.range(1, fresh.size())
        .filter(i -> fresh.get(i).parameters().equals(fresh.get(i - 1).parameters()))
        .mapToObj(i -> List.of(fresh.get(i - 1), fresh.get(i)))
        .findFirst()
        .orElse(List.of());
  }

  private Optional<Outcome> right(PlannedCall call, @Nullable Under under)
      throws InterruptedException, Oracle.Refused {
    Oracle oracle = session.oracle();
    OracleMessage.Prepared inputs =
        oracle.ask(
            OracleMessage.Prepared.class,
            id -> new OracleMessage.Prepare(id, call.index()),
            Limits.ORACLE);
    Message answer;
    try {
      answer =
          session
              .runner()
              .ask(
                  RunnerMessage.Returned.class,
                  id ->
                      new RunnerMessage.Call(
                          id, inputs.args(), inputs.kwargs(), null, false, under),
                  plan.limits().call());
    } catch (TimeoutException e) {
      return Optional.of(Outcome.timeout(Stage.CALL, Calls.name(call), plan.limits().call()));
    } catch (Runner.Lost e) {
      return Optional.of(Outcome.lost(e, Stage.CALL));
    }
    if (answer instanceof RunnerMessage.Raised raised) {
      return Optional.of(session.raised(raised, false));
    }
    if (under == Under.CAPTURE || !(answer instanceof RunnerMessage.Returned returned)) {
      return Optional.empty();
    }
    OracleMessage.Checked checked =
        oracle.ask(
            OracleMessage.Checked.class,
            id -> new OracleMessage.Check(id, call.index(), returned.value()),
            Limits.ORACLE);
    return checked.correct()
        ? Optional.empty()
        : Optional.of(Outcome.wrong(checked, Stage.CORRECT, Calls.name(call), List.of()));
  }
}
