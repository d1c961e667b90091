package dev.kbx.judge;

import static java.util.Objects.requireNonNull;

import dev.kbx.candidate.Candidate;
import dev.kbx.outcome.Outcome;
import dev.kbx.plan.Limits;
import dev.kbx.plan.MemoryRequirements;
import dev.kbx.plan.Plan;
import dev.kbx.plan.Seeds;
import dev.kbx.plan.ServingProperty;
import dev.kbx.plan.Tolerance;
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
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One candidate with one fresh runner and one oracle, from opening the task until the runner's
 * process tree is gone.
 *
 * <p>For each call the runner is told what to call, then the oracle compares the result. Nothing
 * that the runner says is believed.
 */
final class Session implements AutoCloseable {
  private final Oracle oracle;
  private final Runner runner;
  private final Plan plan;
  private final Candidate candidate;
  private final JudgementBuilder draft;
  private final Ahead ahead;
  private boolean timed;
  private Message.@Nullable Module module;

  Session(
      Oracle oracle,
      Runner runner,
      Plan plan,
      Candidate candidate,
      JudgementBuilder draft,
      Ahead ahead) {
    this.oracle = oracle;
    this.runner = runner;
    this.plan = plan;
    this.candidate = candidate;
    this.draft = draft;
    this.ahead = ahead;
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
   * @param timed whether benchmark sizes will be used
   * @param alone whether the candidate has the device exclusively
   */
  OracleMessage.Opened open(boolean timed, boolean alone)
      throws InterruptedException, Oracle.Refused {
    return open(timed, alone, null);
  }

  /**
   * Opens the task for an expert's runner as well.
   *
   * @param expert its number; null: there is none
   */
  OracleMessage.Opened open(boolean timed, boolean alone, @Nullable Integer expert)
      throws InterruptedException, Oracle.Refused {
    this.timed = timed;
    if (!timed) runner.introduceTo(oracle);
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
                plan.tolerance() == Tolerance.PUBLISHED,
                plan.precision().dtype(),
                draft.schemes(),
                plan.checksMemory(),
                candidate.task().operations(),
                properties(timed),
                expert,
                timed ? Map.of() : ahead.kernels()),
        Limits.ORACLE);
  }

  private List<String> properties(boolean timed) {
    Stream<String> asked = plan.properties().stream().map(ServingProperty::label);
    boolean sized = !timed && plan.reaches(Stage.PERF);
    return Stream.concat(asked, sized ? Stream.of(OracleMessage.PlannedCall.SIZED) : Stream.of())
        .toList();
  }

  /** Attaches the runner's arenas and loads the candidate. Empty on success. */
  Optional<Outcome> load(OracleMessage.Opened task) throws InterruptedException {
    Duration limit = plan.limits().load();
    runner.attach(task.arenas());
    module = task.module();
    try {
      List<String> operations = candidate.task().operations();
      boolean cpp = candidate.task().takesCpp();
      Message answer =
          runner.ask(
              RunnerMessage.Loaded.class,
              id ->
                  new RunnerMessage.Load(
                      id,
                      candidate.code(),
                      task.entries(),
                      operations,
                      ahead.files(),
                      timed,
                      cpp,
                      task.core(),
                      plan.checksMemory()),
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

  /**
   * Constructs the candidate's module anew, for calls in another dtype. Empty on success.
   *
   * @param dtype null for the one of the other calls
   */
  Optional<Outcome> construct(@Nullable String dtype) throws InterruptedException {
    Message.Module first = requireNonNull(module);
    try {
      return construct(dtype == null ? first : first.in(dtype), plan.limits().load());
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
   * The outcome of a failed request. Its message says that the machine lacks a feature if a GPU is
   * emulated, for C++ if the zygote found that it cannot be compiled, and for a package that the
   * source imports if it found that it is not installed.
   */
  Outcome raised(RunnerMessage.Raised raised, boolean loading) {
    boolean noCpp = runner.lacks() != null && candidate.bringsCpp();
    boolean noPackage = candidate.packages().stream().anyMatch(runner.absent()::contains);
    return Outcome.raised(raised, loading, runner.emulates() || noCpp || noPackage);
  }

  /** Whether the entry is a class, of which there is an instance. */
  boolean isModule() {
    return module != null;
  }

  /** Kills the runner's process tree and waits until it is gone. */
  void end() throws InterruptedException {
    draft.output(runner.end().output());
  }

  /**
   * Closes the task at the oracle. Returns {@code outcome}, or a violation if the runner broke the
   * protocol.
   */
  Outcome leave(Outcome outcome) throws InterruptedException {
    try {
      oracle.ask(OracleMessage.Closed.class, OracleMessage.Close::new, Limits.ORACLE);
    } catch (Oracle.Refused e) {
      throw new WorkerFailure("the oracle could not close a candidate: " + e.getMessage(), e);
    }
    String violation = runner.violation();
    if (violation != null) draft.published().deceived();
    return outcome.status() == Status.CORRECT && violation != null
        ? Outcome.violation(outcome.stage(), violation)
        : outcome;
  }

  /** The next user of the device must not share it with this candidate's process. */
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
