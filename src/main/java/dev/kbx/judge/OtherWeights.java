package dev.kbx.judge;

import dev.kbx.plan.Limits;
import dev.kbx.worker.Message;
import dev.kbx.worker.Oracle;
import dev.kbx.worker.OracleMessage;
import dev.kbx.worker.Runner;
import dev.kbx.worker.RunnerMessage;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeoutException;

/**
 * Makes one more call of a correct module, after its weights and the reference's were changed
 * alike.
 *
 * <p>The result decides nothing: a module may fold its weights in its constructor, and a candidate
 * could forge the answer. The flag warns users who want to train the module or load weights into
 * it.
 */
final class OtherWeights {
  /** Flag of a module whose result does not follow its weights. */
  static final String IGNORED = "state_ignored";

  private final Oracle oracle;
  private final Runner runner;
  private final JudgementBuilder draft;

  OtherWeights(Oracle oracle, Runner runner, JudgementBuilder draft) {
    this.oracle = oracle;
    this.runner = runner;
    this.draft = draft;
  }

  /**
   * Flags a module whose result differs from the reference's; does nothing if that cannot be
   * tested.
   *
   * @param limit for each request to the runner
   */
  void look(Duration limit) throws InterruptedException {
    try {
      if (isIgnored(limit)) draft.flags(List.of(IGNORED));
    } catch (Oracle.Refused | TimeoutException | Runner.Lost _) {
      // All calls of the plan have been answered before.
    }
  }

  private boolean isIgnored(Duration limit)
      throws InterruptedException, Oracle.Refused, TimeoutException, Runner.Lost {
    OracleMessage.WeightsChanged state =
        oracle.ask(
            OracleMessage.WeightsChanged.class, OracleMessage.ChangeWeights::new, Limits.ORACLE);
    if (state.parameters().isEmpty()) return false;
    Message taken =
        runner.ask(
            RunnerMessage.StateTaken.class,
            id -> new RunnerMessage.TakeState(id, state.parameters()),
            limit);
    if (!(taken instanceof RunnerMessage.StateTaken said) || !said.taken()) return false;
    OracleMessage.Prepared inputs =
        oracle.ask(
            OracleMessage.Prepared.class,
            id -> new OracleMessage.Prepare(id, state.call()),
            Limits.ORACLE);
    Message answer =
        runner.ask(
            RunnerMessage.Returned.class,
            id -> new RunnerMessage.Call(id, inputs.args(), inputs.kwargs()),
            limit);
    if (!(answer instanceof RunnerMessage.Returned returned)) return true;
    OracleMessage.Checked checked =
        oracle.ask(
            OracleMessage.Checked.class,
            id -> new OracleMessage.Check(id, state.call(), returned.value()),
            Limits.ORACLE);
    return !checked.correct();
  }
}
