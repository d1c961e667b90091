package dev.kbx.timing;

import static dev.kbx.timing.Defaults.BATCH_MS;
import static dev.kbx.timing.Defaults.MAX_CALLS;
import static dev.kbx.timing.Defaults.SHORTEST_MS;
import static java.util.Objects.requireNonNull;

import dev.kbx.device.Spending;
import dev.kbx.outcome.Outcome;
import dev.kbx.plan.Limits;
import dev.kbx.plan.Plan;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Status;
import dev.kbx.worker.Message;
import dev.kbx.worker.Oracle;
import dev.kbx.worker.OracleMessage;
import dev.kbx.worker.Runner;
import dev.kbx.worker.RunnerMessage;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeoutException;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Requests batches of timed calls: the reference from the oracle, the candidate from its runner,
 * each launched from Python or as CUDA graphs.
 */
final class Batches {
  private final Oracle oracle;
  private final Runner runner;
  private final Plan plan;
  private final Spending spending;
  private final DeviceBudget budget;
  private final boolean expert;

  Batches(Oracle oracle, Runner runner, Plan plan, Spending spending) {
    this(oracle, runner, plan, spending, false);
  }

  /**
   * @param expert whether the runner is that of an expert's kernel
   */
  Batches(Oracle oracle, Runner runner, Plan plan, Spending spending, boolean expert) {
    this.expert = expert;
    this.budget = new DeviceBudget(plan.limits());
    this.oracle = oracle;
    this.runner = runner;
    this.plan = plan;
    this.spending = spending;
  }

  /** A request sent to the oracle, which may still be working on it. */
  interface Asked<T> {
    /** Waits for the answer. */
    T answer() throws InterruptedException, Oracle.Refused;
  }

  /** What the candidate may still use of the device. */
  DeviceBudget budget() {
    return budget;
  }

  /** Now, by the clock that batches are timed with. */
  long nanoTime() {
    return runner.nanoTime();
  }

  /** Prepares fresh inputs for one round, which no candidate sees before {@link #lend}. */
  Asked<OracleMessage.PreparedSize> prepare(
      OracleMessage.Size size, int sets, OracleMessage.PrepareSize.Phase phase, int round) {
    return ask(
        "prepare",
        OracleMessage.PreparedSize.class,
        id -> new OracleMessage.PrepareSize(id, size.index(), sets, phase, round));
  }

  /**
   * Copies the inputs last prepared to the candidate's arena; returns the calls to make with them.
   */
  Asked<JsonNode> lend() {
    Asked<OracleMessage.LentSize> lent =
        ask("lend", OracleMessage.LentSize.class, id -> new OracleMessage.LendSize(id, expert));
    return () -> lent.answer().calls();
  }

  /** Times the reference on the inputs last prepared, by both clocks. */
  Asked<Batch> reference(HostRunAhead lead) {
    return reference(lead, false);
  }

  /** Measures the reference's graphs, which the oracle records if it has none. */
  Asked<Batch> graphs(HostRunAhead lead) {
    return reference(lead, true);
  }

  private Asked<Batch> reference(HostRunAhead lead, boolean graph) {
    Oracle.Asked<OracleMessage.BaselineMeasured> sent =
        oracle.send(
            OracleMessage.BaselineMeasured.class,
            id -> new OracleMessage.Baseline(id, lead.flushes(), plan.warm(), graph),
            Limits.ORACLE);
    return () -> measured(spending.on("reference", sent::answer), sent.nanos() / 1e6);
  }

  private static Batch measured(OracleMessage.BaselineMeasured measured, double wallMs) {
    String unrecorded = measured.unrecorded();
    if (unrecorded != null) {
      return Batch.failed(Outcome.of(Status.INFRASTRUCTURE, Stage.PERF, unrecorded));
    }
    // A candidate's batch has no such reading: counting it as normal would give a candidate time to
    // hide work in.
    double reading = measured.stateSeconds() * 1e3;
    return Batch.of(measured, wallMs - reading);
  }

  /** Has the oracle check some of the results last timed. */
  Asked<OracleMessage.Checked> check(List<Integer> slots, List<JsonNode> values) {
    return ask(
        "check",
        OracleMessage.Checked.class,
        id -> new OracleMessage.CheckSize(id, slots, values, expert));
  }

  private <T extends OracleMessage> Asked<T> ask(
      String what, Class<T> expected, IntFunction<OracleMessage> request) {
    Oracle.Asked<T> sent = oracle.send(expected, request, Limits.ORACLE);
    return () -> spending.on(what, sent::answer);
  }

  /**
   * Times the candidate on {@code calls}.
   *
   * @param counts whether its times count; else it warms up
   * @param referenceMs milliseconds of a call of the reference
   */
  Batch candidate(
      JsonNode calls, boolean counts, long flushBytes, HostRunAhead lead, double referenceMs)
      throws InterruptedException {
    return candidate(
        counts,
        calls.size(),
        budget.batch(calls.size(), referenceMs),
        id -> new RunnerMessage.Measure(id, calls, flushBytes, lead.flushes(), plan.warm()));
  }

  /**
   * Times the candidate's graphs, {@code calls} of them.
   *
   * @param counts as for {@link #candidate}
   */
  Batch replayed(int calls, boolean counts, long flushBytes, HostRunAhead lead)
      throws InterruptedException {
    return candidate(
        counts,
        calls,
        plan.limits().size(),
        id -> new RunnerMessage.ReplayCalls(id, flushBytes, lead.flushes(), plan.warm()));
  }

  /** Number of calls in a batch, given the milliseconds of one. */
  static int calls(double callMs) {
    return Math.clamp((int) Math.ceil(BATCH_MS / callMs), 1, MAX_CALLS);
  }

  /** Records the candidate's calls as CUDA graphs; returns a finding against them, if any. */
  Optional<Outcome> record(JsonNode calls, Watch watch, String shape) throws InterruptedException {
    Answer answer = record(calls);
    if (answer.failed() != null) return Optional.of(answer.failed());
    RunnerMessage.CallsRecorded recorded =
        (RunnerMessage.CallsRecorded) requireNonNull(answer.message());
    return watch.judge(recorded.origins(), "recorded at " + shape);
  }

  /** Records an expert's calls, of which nobody asks who computes them; whether they could be. */
  boolean records(JsonNode calls) throws InterruptedException {
    return record(calls).failed() == null;
  }

  private Answer record(JsonNode calls) throws InterruptedException {
    return ask(
        "record",
        RunnerMessage.CallsRecorded.class,
        id -> new RunnerMessage.RecordCalls(id, calls),
        plan.limits().size());
  }

  /**
   * Repeats a call (as in {@code measure}) untimed and watched; returns a finding, if any.
   *
   * @param referenceMs milliseconds of a call of the reference
   * @param operations is told which ran
   */
  Optional<Outcome> watched(
      JsonNode call, double referenceMs, Watch watch, TimedOperations operations, String shape)
      throws InterruptedException {
    Answer answer =
        ask(
            "watch",
            RunnerMessage.Returned.class,
            id -> new RunnerMessage.Call(id, call.get("args"), call.get("kwargs"), null, false),
            budget.batch(1, referenceMs));
    budget.spend(answer.nanos());
    if (answer.failed() != null) return Optional.of(answer.failed());
    RunnerMessage.Returned returned = (RunnerMessage.Returned) requireNonNull(answer.message());
    operations.watched(returned.ran());
    return watch.judge(Collections.singletonList(returned.origin()), "at " + shape);
  }

  private Batch candidate(
      boolean counts, int calls, Duration limit, IntFunction<RunnerMessage> request)
      throws InterruptedException {
    String what = counts ? "candidate" : "warm up";
    Answer answer = ask(what, RunnerMessage.Measured.class, request, limit);
    budget.spend(answer.nanos());
    if (answer.failed() != null) return Batch.failed(answer.failed());
    RunnerMessage.Measured measured = (RunnerMessage.Measured) requireNonNull(answer.message());
    long most = plan.limits().size().toMillis();
    if (measured.values().size() != calls
        || measured.deviceMs().size() != calls
        || measured.deviceMs().stream().anyMatch(ms -> !(ms >= SHORTEST_MS && ms <= most))) {
      return Batch.failed(
          Outcome.cheating(
              Stage.PERF, "timing: invalid batch report: wrong call count or time out of range"));
    }
    return Batch.of(measured, answer.nanos() / 1e6);
  }

  /** The runner's answer with its wall-clock time, or the outcome of a failure. */
  private record Answer(@Nullable Message message, long nanos, @Nullable Outcome failed) {
    static Answer failed(Outcome how) {
      return new Answer(null, 0, how);
    }
  }

  private Answer ask(
      String what,
      Class<? extends RunnerMessage> expected,
      IntFunction<RunnerMessage> request,
      Duration limit)
      throws InterruptedException {
    try (var _ = spending.begin(what)) {
      Runner.Answered answer = runner.time(expected, request, limit);
      return answer.message() instanceof RunnerMessage.Raised raised
          ? Answer.failed(Outcome.raised(raised, false, false).at(Stage.PERF))
          : new Answer(answer.message(), answer.nanos(), null);
    } catch (TimeoutException e) {
      return Answer.failed(Outcome.timeout(Stage.PERF, "a batch of timed calls", limit));
    } catch (Runner.Lost e) {
      return Answer.failed(Outcome.lost(e, Stage.PERF));
    }
  }
}
