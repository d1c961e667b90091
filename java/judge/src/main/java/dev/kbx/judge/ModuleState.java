package dev.kbx.judge;

import dev.kbx.outcome.Outcome;
import dev.kbx.plan.Limits;
import dev.kbx.verdict.Stage;
import dev.kbx.worker.Message;
import dev.kbx.worker.Oracle;
import dev.kbx.worker.OracleMessage;
import dev.kbx.worker.OracleMessage.PlannedCall;
import dev.kbx.worker.Runner;
import dev.kbx.worker.RunnerMessage;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Changes a candidate's module between calls, as a call beyond the published grade asks: other
 * weights, or another dtype. The oracle changes the reference alike.
 *
 * <p>The candidate's process changes its own weights, so whether it follows them is what it shows:
 * a claim that decides at no grade but the general one.
 */
final class ModuleState {
  /** Flag of a module whose result does not follow its weights. */
  static final String IGNORED = "state_ignored";

  private final Session session;
  private final Duration limit;
  private @Nullable String dtype;
  private boolean changed;
  private boolean untested;
  private Optional<Outcome> failure = Optional.empty();

  /**
   * @param limit for each request to the runner about weights
   */
  ModuleState(Session session, Duration limit) {
    this.session = session;
    this.limit = limit;
  }

  /**
   * Whether the call says something about the candidate. A call with other weights does not if its
   * module, or the reference, has no parameters that could be changed alike.
   */
  boolean isTested(PlannedCall call) throws InterruptedException {
    if (!call.otherWeights()) return true;
    if (!changed) {
      changed = true;
      changeWeights();
    }
    return !untested;
  }

  /** Makes the module what the call asks for. Empty on success. */
  Optional<Outcome> readyFor(PlannedCall call) throws InterruptedException {
    if (call.otherWeights()) return failure;
    if (Objects.equals(dtype, call.dtype())) return Optional.empty();
    Optional<Outcome> failed = session.construct(call.dtype());
    if (failed.isEmpty()) dtype = call.dtype();
    return failed;
  }

  private void changeWeights() throws InterruptedException {
    try {
      untested = !takes(session.oracle());
    } catch (Oracle.Refused e) {
      failure = Optional.of(Outcome.refused(e.answer()));
    } catch (TimeoutException e) {
      failure = Optional.of(Outcome.timeout(Stage.CALL, "taking other weights", limit));
    } catch (Runner.Lost e) {
      failure = Optional.of(Outcome.lost(e, Stage.CALL));
    }
  }

  private boolean takes(Oracle oracle)
      throws InterruptedException, Oracle.Refused, TimeoutException, Runner.Lost {
    OracleMessage.WeightsChanged state =
        oracle.ask(
            OracleMessage.WeightsChanged.class, OracleMessage.ChangeWeights::new, Limits.ORACLE);
    if (state.parameters().isEmpty()) return false;
    Message taken =
        session
            .runner()
            .ask(
                RunnerMessage.StateTaken.class,
                id -> new RunnerMessage.TakeState(id, state.parameters()),
                limit);
    return taken instanceof RunnerMessage.StateTaken said && said.taken();
  }
}
