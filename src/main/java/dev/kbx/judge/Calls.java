package dev.kbx.judge;

import dev.kbx.outcome.Attribution;
import dev.kbx.outcome.Outcome;
import dev.kbx.plan.Grade;
import dev.kbx.plan.Plan;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Status;
import dev.kbx.worker.Message;
import dev.kbx.worker.Oracle;
import dev.kbx.worker.OracleMessage;
import dev.kbx.worker.Runner;
import dev.kbx.worker.RunnerMessage;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeoutException;

/**
 * The call and correctness stages: makes every planned call once and, if requested, compares its
 * result.
 */
final class Calls {
  private final Session session;
  private final Oracle oracle;
  private final Runner runner;
  private final Plan plan;
  private final JudgementBuilder draft;
  private final Duration oracleLimit;
  private long runnerNanos;

  Calls(Session session, Plan plan, JudgementBuilder draft, Duration oracleLimit) {
    this.session = session;
    this.oracle = session.oracle();
    this.runner = session.runner();
    this.plan = plan;
    this.draft = draft;
    this.oracleLimit = oracleLimit;
  }

  /**
   * Makes the calls beyond the published grade, on after one that fails, as long as the candidate's
   * process lives and there is time.
   */
  void cover(Coverage coverage) throws InterruptedException, Oracle.Refused {
    long limit = plan.limits().correctness().toNanos();
    while (runnerNanos <= limit) {
      Optional<OracleMessage.PlannedCall> call = coverage.next();
      if (call.isEmpty()) return;
      Optional<Outcome> outcome = judge(call.get());
      coverage.add(call.get(), outcome);
      if (outcome.isPresent() && isSpent(outcome.get())) return;
    }
  }

  /** Whether the candidate's process, or the device in it, is not what it was before. */
  private boolean isSpent(Outcome outcome) {
    return runner.ended()
        || outcome.status() == Status.TIMEOUT
        || (outcome.isFault() && !runner.emulates());
  }

  /** Empty if every call was made and its result is right. */
  Optional<Outcome> judge(List<OracleMessage.PlannedCall> planned)
      throws InterruptedException, Oracle.Refused {
    long limit = plan.limits().correctness().toNanos();
    for (OracleMessage.PlannedCall call : planned) {
      if (runnerNanos > limit) {
        return Optional.of(
            Outcome.timeout(Stage.CALL, "all calls together", plan.limits().correctness()));
      }
      Optional<Outcome> decided = judge(call);
      if (decided.isPresent()) return decided;
    }
    return Optional.empty();
  }

  /** Empty when the call was made and its result, if asked for, found right. */
  Optional<Outcome> judge(OracleMessage.PlannedCall call)
      throws InterruptedException, Oracle.Refused {
    OracleMessage.Prepared inputs =
        oracle.ask(
            OracleMessage.Prepared.class,
            id -> new OracleMessage.Prepare(id, call.index()),
            oracleLimit);
    Message answer;
    long start = runner.nanoTime();
    try {
      answer =
          runner.ask(
              RunnerMessage.Returned.class,
              id -> new RunnerMessage.Call(id, inputs.args(), inputs.kwargs()),
              plan.limits().call());
    } catch (TimeoutException e) {
      return Optional.of(Outcome.timeout(Stage.CALL, name(call), plan.limits().call()));
    } catch (Runner.Lost e) {
      return Optional.of(Outcome.lost(e, Stage.CALL));
    } finally {
      long taken = runner.nanoTime() - start;
      runnerNanos += taken;
      draft.spent(Stage.CALL, taken / 1e9);
    }
    return switch (answer) {
      case RunnerMessage.Raised raised -> {
        draft.compiledInCall(raised.compiled());
        yield Optional.of(session.raised(raised, false));
      }
      case RunnerMessage.Returned returned -> {
        draft.compiledInCall(returned.compiled());
        yield plan.reaches(Stage.CORRECT) ? check(call, returned) : Optional.empty();
      }
      default -> throw new IllegalStateException("a runner answers returned or raised");
    };
  }

  private Optional<Outcome> check(OracleMessage.PlannedCall call, RunnerMessage.Returned returned)
      throws InterruptedException, Oracle.Refused {
    long start = System.nanoTime();
    OracleMessage.Checked checked =
        oracle.ask(
            OracleMessage.Checked.class,
            id -> new OracleMessage.Check(id, call.index(), returned.value()),
            oracleLimit);
    draft.spent(Stage.CORRECT, (System.nanoTime() - start) / 1e9);
    if (call.published() || plan.grade() == Grade.GENERAL) note(checked, returned);
    return checked.correct()
        ? Optional.empty()
        : Optional.of(Outcome.wrong(checked, Stage.CORRECT, name(call)));
  }

  /** What a call that decides says beside its status. */
  private void note(OracleMessage.Checked checked, RunnerMessage.Returned returned) {
    draft.errors(checked.metrics());
    draft.flags(checked.flags());
    draft.origins().add(returned.origin());
    if (draft.origins().incomplete()) draft.flags(List.of(Attribution.NONE));
  }

  /** A call in words. */
  static String name(OracleMessage.PlannedCall call) {
    return "%s, %s values".formatted(call.parameters(), call.distribution());
  }
}
