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
import java.util.Set;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * The call and correctness stages: makes every planned call once and, if requested, compares its
 * result.
 */
final class Calls {
  /** Exceptions of Python code, after which a GPU is as it was; any other may be the device's. */
  private static final Set<String> PLAIN =
      Set.of(
          "AssertionError",
          "AttributeError",
          "IndexError",
          "KeyError",
          "NameError",
          "NotImplementedError",
          "TypeError",
          "ValueError",
          "ZeroDivisionError");

  /** Calls at most, and time with compiling, for configurations that the planned calls left. */
  private static final int MOST_FURTHER = 100;

  private static final Duration FURTHER = Duration.ofSeconds(60);

  /** An autotuner has configurations that no call has run. */
  private static final String UNTRIED = "untried_configurations";

  private final Session session;
  private final Oracle oracle;
  private final Runner runner;
  private final Plan plan;
  private final JudgementBuilder draft;
  private final Duration oracleLimit;
  private final ModuleState module;
  private final PublishedRule published;
  private final Digests digests;
  private long runnerNanos;
  private String raised = "";
  private RunnerMessage.@Nullable Untried untried;
  private OracleMessage.@Nullable PlannedCall wrongCall;

  /**
   * @param runnerNanos time that the candidate has taken in earlier processes
   */
  Calls(
      Session session, Plan plan, JudgementBuilder draft, Duration oracleLimit, long runnerNanos) {
    this(session, plan, draft, oracleLimit, runnerNanos, new Digests());
  }

  /**
   * @param digests of earlier processes, to which those of this one are added
   */
  Calls(
      Session session,
      Plan plan,
      JudgementBuilder draft,
      Duration oracleLimit,
      long runnerNanos,
      Digests digests) {
    this.runnerNanos = runnerNanos;
    this.digests = digests;
    this.session = session;
    this.oracle = session.oracle();
    this.runner = session.runner();
    this.plan = plan;
    this.draft = draft;
    this.published = draft.published();
    this.oracleLimit = oracleLimit;
    this.module = new ModuleState(session, plan.limits().call());
  }

  /**
   * Makes the calls beyond the published grade, on after one that fails, as long as the candidate's
   * process lives and there is time.
   */
  void cover(Coverage coverage) throws InterruptedException, Oracle.Refused {
    while (plan.limits().allowAnotherCall(runnerNanos)) {
      Optional<OracleMessage.PlannedCall> call = coverage.next();
      if (call.isEmpty()) return;
      if (!module.isTested(call.get())) {
        coverage.skip(call.get());
        continue;
      }
      Optional<Outcome> outcome = covered(call.get());
      coverage.add(call.get(), outcome);
      if (call.get().otherWeights() && outcome.filter(Calls::isCandidates).isPresent()) {
        draft.flags(List.of(ModuleState.IGNORED));
      }
      if (outcome.isPresent() && isSpent(outcome.get())) {
        coverage.fault();
        return;
      }
    }
  }

  private static boolean isCandidates(Outcome outcome) {
    return outcome.status().blame() == Status.Blame.CANDIDATE;
  }

  /** What the oracle refuses decides where this call decides, and says nothing elsewhere. */
  private Optional<Outcome> covered(OracleMessage.PlannedCall call)
      throws InterruptedException, Oracle.Refused {
    try {
      return judge(call);
    } catch (Oracle.Refused e) {
      if (decides(call)) throw e;
      return Optional.of(Outcome.refused(e.answer()));
    }
  }

  /** Whether the candidate's process, or the device in it, may not be what it was before. */
  private boolean isSpent(Outcome outcome) {
    if (runner.ended() || outcome.status() == Status.TIMEOUT) return true;
    return outcome.isFault() && !runner.emulates() && !PLAIN.contains(raised);
  }

  /** All calls together take too long. */
  Outcome late() {
    return Outcome.timeout(Stage.CALL, "all calls together", plan.limits().correctness());
  }

  /** Time that the candidate has taken, nanoseconds, in this process and those before it. */
  long runnerNanos() {
    return runnerNanos;
  }

  /** The bits of the results so far, where they are asked for. */
  Digests digests() {
    return digests;
  }

  /**
   * Makes the calls of the published grade. Empty if each result is right. After one that is wrong
   * by kbx's rules alone the others are made as well, to know what the published rule says.
   */
  Optional<Outcome> judge(List<OracleMessage.PlannedCall> planned)
      throws InterruptedException, Oracle.Refused {
    Optional<Outcome> decided = Optional.empty();
    for (OracleMessage.PlannedCall call : planned) {
      if (decided.isPresent() && !published.open()) return decided;
      if (!plan.limits().allowAnotherCall(runnerNanos)) {
        if (decided.isPresent()) published.cut();
        return decided.isPresent() ? decided : unreturned(call, late());
      }
      if (decided.isPresent()) follow(call);
      else decided = judge(call);
    }
    return decided;
  }

  /** A call after the one that decided, for the published rule alone. */
  private void follow(OracleMessage.PlannedCall call) throws InterruptedException {
    try {
      var _ = judge(call);
    } catch (Oracle.Refused e) {
      published.cut();
    }
  }

  /** A call did not return. */
  private Optional<Outcome> unreturned(OracleMessage.PlannedCall call, Outcome outcome) {
    if (call.published()) published.ended(outcome);
    return Optional.of(outcome);
  }

  /**
   * Makes calls of benchmark sizes. What is wrong with one ends the candidate as a timed call
   * would; that there is no memory for it here, where nobody is alone, says nothing.
   */
  Optional<Outcome> judgeSized(List<OracleMessage.PlannedCall> planned)
      throws InterruptedException {
    for (OracleMessage.PlannedCall call : planned) {
      if (!plan.limits().allowAnotherCall(runnerNanos)) return Optional.empty();
      Optional<Outcome> found = sized(call);
      if (found.isPresent()) return Optional.of(found.get().at(Stage.PERF));
    }
    return Optional.empty();
  }

  private Optional<Outcome> sized(OracleMessage.PlannedCall call) throws InterruptedException {
    try {
      return judge(call)
          .filter(outcome -> isCandidates(outcome) && outcome.status() != Status.OUT_OF_MEMORY);
    } catch (Oracle.Refused e) {
      return Optional.empty();
    }
  }

  /**
   * Repeats calls, all of which were right, until every configuration of the candidate's autotuners
   * has run, as far as there is time. Which ones are left is the runner's claim.
   */
  Optional<Outcome> judgeUntried(List<OracleMessage.PlannedCall> made)
      throws InterruptedException, Oracle.Refused {
    long end = System.nanoTime() + FURTHER.toNanos();
    int left = Integer.MAX_VALUE;
    for (int further = 1; untried != null && untried.configurations() < left; further++) {
      left = untried.configurations();
      for (OracleMessage.PlannedCall call : likeThose(made, untried.tuning())) {
        if (further > MOST_FURTHER
            || System.nanoTime() > end
            || runner.compileNanos() > FURTHER.toNanos()
            || !plan.limits().allowAnotherCall(runnerNanos)) {
          break;
        }
        Optional<Outcome> decided = judge(call, -further);
        if (decided.isPresent()) return decided;
      }
    }
    if (untried != null) draft.flags(List.of(UNTRIED));
    return Optional.empty();
  }

  /**
   * The call of this number, with those that repeat it at once: the draws of a random operation,
   * which are judged together.
   */
  private static List<OracleMessage.PlannedCall> likeThose(
      List<OracleMessage.PlannedCall> made, int tuning) {
    return made.stream()
        .dropWhile(call -> call.inputs() != tuning)
        .takeWhile(call -> call.inputs() == tuning)
        .toList();
  }

  /** Empty when the call was made and its result, if asked for, found right. */
  Optional<Outcome> judge(OracleMessage.PlannedCall call)
      throws InterruptedException, Oracle.Refused {
    return judge(call, call.published() ? call.inputs() : null);
  }

  private Optional<Outcome> judge(OracleMessage.PlannedCall call, @Nullable Integer tuning)
      throws InterruptedException, Oracle.Refused {
    Optional<Outcome> unready = module.readyFor(call);
    if (unready.isPresent()) return unready;
    OracleMessage.Prepared inputs =
        oracle.ask(
            OracleMessage.Prepared.class,
            id -> new OracleMessage.Prepare(id, call.index()),
            oracleLimit);
    if (inputs.idle()) return Optional.empty();
    Message answer;
    long start = runner.nanoTime();
    long compiled = runner.compileNanos();
    try {
      answer =
          runner.ask(
              RunnerMessage.Returned.class,
              id -> new RunnerMessage.Call(id, inputs.args(), inputs.kwargs(), tuning, false),
              plan.limits().call());
    } catch (TimeoutException e) {
      return unreturned(call, Outcome.timeout(Stage.CALL, name(call), plan.limits().call()));
    } catch (Runner.Lost e) {
      return unreturned(call, Outcome.lost(e, Stage.CALL));
    } finally {
      long taken = runner.nanoTime() - start;
      runnerNanos += taken - (runner.compileNanos() - compiled);
      draft.spent(Stage.CALL, taken / 1e9);
    }
    return switch (answer) {
      case RunnerMessage.Raised raised -> {
        this.raised = raised.exception().substring(raised.exception().lastIndexOf('.') + 1);
        draft.compiledInCall(raised.compiled());
        yield unreturned(call, session.raised(raised, false).during(name(call)));
      }
      case RunnerMessage.Returned returned -> {
        draft.compiledInCall(returned.compiled());
        untried = returned.untried();
        if (!returned.unguarded().isEmpty()) draft.flags(List.of(Correctness.MEMORY_UNCHECKED));
        if (plan.reaches(Stage.CORRECT)) yield check(call, returned);
        published.returned();
        yield Optional.empty();
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
    draft.compared();
    draft.schemes(checked.schemes());
    if (checked.digest() != null) digests.add(call, checked.digest());
    if (decides(call)) note(checked, returned);
    if (wrongCall == null && checked.status() == OracleMessage.Checked.Status.WRONG_VALUES) {
      wrongCall = call;
    }
    if (checked.correct() && call.hasOtherContents()) {
      draft.origins().addOther(returned.origin());
      draft.replays().addOther(returned.origin());
    }
    Optional<Outcome> wrong =
        checked.correct()
            ? Optional.empty()
            : Optional.of(
                Outcome.wrong(checked, Stage.CORRECT, name(call), returned.configurations()));
    if (call.published()) {
      // A GPU stops at what ends in the call stage here.
      boolean stops = wrong.isPresent() && wrong.get().stage() == Stage.CALL;
      if (stops && !checked.published()) published.ended(wrong.get());
      else published.compared(checked.published());
    }
    return wrong;
  }

  /**
   * The outcome, which stands, with the name of the first submodule that differs in its message:
   * the wrong call of a module is made once more for it. What the runner answers is a claim.
   */
  Outcome located(Outcome decided) throws InterruptedException {
    OracleMessage.PlannedCall call = wrongCall;
    if (call == null
        || decided.status() != Status.WRONG_VALUES
        || !session.isModule()
        || runner.ended()
        || !plan.limits().allowAnotherCall(runnerNanos)) {
      return decided;
    }
    try {
      String part = firstDifferent(call);
      return part == null ? decided : decided.adding("first different: " + part);
    } catch (Oracle.Refused | TimeoutException | Runner.Lost e) {
      return decided;
    }
  }

  private @Nullable String firstDifferent(OracleMessage.PlannedCall call)
      throws InterruptedException, Oracle.Refused, TimeoutException, Runner.Lost {
    OracleMessage.Prepared inputs =
        oracle.ask(
            OracleMessage.Prepared.class,
            id -> new OracleMessage.Prepare(id, call.index()),
            oracleLimit);
    if (inputs.idle()) return null;
    Message answer =
        runner.ask(
            RunnerMessage.Returned.class,
            id -> new RunnerMessage.Call(id, inputs.args(), inputs.kwargs(), call.inputs(), true),
            plan.limits().call());
    if (!(answer instanceof RunnerMessage.Returned returned)) return null;
    return oracle
        .ask(
            OracleMessage.Located.class,
            id -> new OracleMessage.Locate(id, call.index(), returned.value()),
            oracleLimit)
        .part();
  }

  /** Whether the status depends on it. */
  private boolean decides(OracleMessage.PlannedCall call) {
    return call.published() || call.sized() || (plan.grade() == Grade.GENERAL && !call.special());
  }

  /** What a call that decides says beside its status. */
  private void note(OracleMessage.Checked checked, RunnerMessage.Returned returned) {
    draft.errors(checked.metrics());
    draft.flags(checked.flags());
    draft.origins().add(returned.origin());
    if (checked.elsewhere() != null) draft.origins().computedElsewhere(checked.elsewhere());
    if (checked.account() != null) draft.replays().add(checked.account());
    if (draft.origins().incomplete()) draft.flags(List.of(Attribution.NONE));
  }

  /** A call in words. */
  static String name(OracleMessage.PlannedCall call) {
    return "%s, %s values".formatted(call.parameters(), call.distribution());
  }
}
