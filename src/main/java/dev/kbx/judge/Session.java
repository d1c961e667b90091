package dev.kbx.judge;

import dev.kbx.candidate.Candidate;
import dev.kbx.outcome.Outcome;
import dev.kbx.plan.Limits;
import dev.kbx.plan.MemoryRequirements;
import dev.kbx.plan.Plan;
import dev.kbx.plan.Seeds;
import dev.kbx.plan.Tolerance;
import dev.kbx.task.Policy;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Status;
import dev.kbx.worker.Message;
import dev.kbx.worker.Oracle;
import dev.kbx.worker.OracleMessage;
import dev.kbx.worker.Runner;
import dev.kbx.worker.RunnerMessage;
import dev.kbx.worker.WorkerFailure;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeoutException;

/**
 * One candidate with one fresh runner and one oracle, from the opening of the task to the end of
 * the runner's process tree.
 *
 * <p>The order of questions is the protocol of a judgement: the runner is told what to call, the
 * oracle is asked what came of it; nothing the runner says is believed.
 */
final class Session implements AutoCloseable {
  private final Oracle oracle;
  private final Runner runner;
  private final Plan plan;
  private final Candidate candidate;
  private final JudgementBuilder draft;
  private boolean timed;

  Session(Oracle oracle, Runner runner, Plan plan, Candidate candidate, JudgementBuilder draft) {
    this.oracle = oracle;
    this.runner = runner;
    this.plan = plan;
    this.candidate = candidate;
    this.draft = draft;
  }

  Oracle oracle() {
    return oracle;
  }

  Runner runner() {
    return runner;
  }

  /**
   * Opens the candidate's task at the oracle.
   *
   * @param timed whether benchmark sizes will be asked for
   * @param alone whether nobody else uses the device
   */
  OracleMessage.Opened open(boolean timed, boolean alone)
      throws InterruptedException, Oracle.Refused {
    this.timed = timed;
    MemoryRequirements needs = plan.limits().needs();
    return oracle.ask(
        OracleMessage.Opened.class,
        id ->
            new OracleMessage.Open(
                id,
                candidate.task().file().toAbsolutePath().toString(),
                Seeds.of(plan.secret(), candidate.task(), candidate.hash()),
                runner.number(),
                timed,
                needs.lent(),
                needs.returned(),
                alone,
                plan.tolerance() == Tolerance.PUBLISHED),
        Limits.ORACLE);
  }

  /**
   * Gives the runner its arenas and its candidate. Empty if it has loaded.
   *
   * @param files what was compiled ahead
   */
  Optional<Outcome> load(OracleMessage.Opened task, Map<String, String> files)
      throws InterruptedException {
    Duration limit = plan.limits().load();
    runner.attach(task.arenas());
    try {
      List<String> operations = candidate.task().operations();
      boolean cpp = Policy.of(candidate.task()).takesCpp();
      Message answer =
          runner.ask(
              RunnerMessage.Loaded.class,
              id ->
                  new RunnerMessage.Load(
                      id,
                      candidate.code(),
                      task.entries(),
                      operations,
                      files,
                      timed,
                      cpp,
                      task.core()),
              limit);
      if (answer instanceof RunnerMessage.Raised raised) {
        return Optional.of(raised(raised, true));
      }
      return task.module() == null ? Optional.empty() : construct(task.module(), limit);
    } catch (TimeoutException e) {
      return Optional.of(Outcome.timeout(Stage.CALL, "importing the source", limit));
    } catch (Runner.Lost e) {
      return Optional.of(Outcome.lost(e, Stage.CALL));
    }
  }

  private Optional<Outcome> construct(Message.Module module, Duration limit)
      throws InterruptedException, Runner.Lost {
    try {
      Message answer =
          runner.ask(
              RunnerMessage.Constructed.class,
              id -> new RunnerMessage.Construct(id, module, false),
              limit);
      return answer instanceof RunnerMessage.Raised raised
          ? Optional.of(raised(raised, false))
          : Optional.empty();
    } catch (TimeoutException e) {
      return Optional.of(Outcome.timeout(Stage.CALL, "constructing the module", limit));
    }
  }

  /**
   * What a failed request says of the candidate. That the machine lacks something is believed where
   * a GPU is emulated, and of C++ where the zygote has found that it cannot be compiled.
   */
  Outcome raised(RunnerMessage.Raised raised, boolean loading) {
    boolean noCpp = runner.lacks() != null && candidate.bringsCpp();
    return Outcome.raised(raised, loading, runner.emulates() || noCpp);
  }

  /** Ends the runner's tree and returns when it is gone. */
  void end() throws InterruptedException {
    draft.output(runner.end().output());
  }

  /** Drops the task at the oracle; {@code outcome}, unless the runner did what no runner may. */
  Outcome leave(Outcome outcome) throws InterruptedException {
    try {
      oracle.ask(OracleMessage.Closed.class, OracleMessage.Close::new, Limits.ORACLE);
    } catch (Oracle.Refused e) {
      throw new WorkerFailure("the oracle could not close a candidate: " + e.getMessage(), e);
    }
    String violation = runner.violation();
    return outcome.status() == Status.CORRECT && violation != null
        ? Outcome.violation(outcome.stage(), violation)
        : outcome;
  }

  /** Whoever has the device next must not meet this candidate's process there. */
  @Override
  public void close() {
    try {
      var _ = runner.end();
    } catch (WorkerFailure e) {
      System.getLogger("kbx").log(System.Logger.Level.DEBUG, "a runner did not end", e);
    } catch (InterruptedException e) {
      runner.close();
      Thread.currentThread().interrupt();
    }
  }
}
