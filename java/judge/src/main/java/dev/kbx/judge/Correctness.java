package dev.kbx.judge;

import dev.kbx.candidate.Candidate;
import dev.kbx.device.OraclePool;
import dev.kbx.device.Slot;
import dev.kbx.outcome.Outcome;
import dev.kbx.plan.Grade;
import dev.kbx.plan.Limits;
import dev.kbx.plan.Plan;
import dev.kbx.plan.ServingProperty;
import dev.kbx.plan.Tolerance;
import dev.kbx.task.Policy;
import dev.kbx.task.Task;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Status;
import dev.kbx.worker.Oracle;
import dev.kbx.worker.OracleMessage;
import dev.kbx.worker.Runner;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Runs the call and correctness stages of one candidate, on a slot whose device may be shared. */
final class Correctness {
  /** Accesses outside of tensors were not looked for in every launch, or in none. */
  static final String MEMORY_UNCHECKED = "memory_unchecked";

  private final Slot slot;
  private final Plan plan;
  private final Candidate candidate;
  private final JudgementBuilder draft;
  private final Ahead ahead;
  private final boolean alone;

  /** New processes at most for calls that are left when one has ended under a call. */
  private static final int RESTARTS = 3;

  /** Calls that are made in another process to compare bits. */
  private static final int REPEATED = 8;

  private Digests digests = new Digests();

  private boolean sized;
  private boolean lost;

  /**
   * Whether this device cannot have the task, as the oracle answered before it had anything of the
   * candidate.
   */
  private boolean unopened;

  private @Nullable Coverage coverage;
  private long runnerNanos;

  /**
   * @param alone whether the candidate has the device exclusively
   */
  Correctness(
      Slot slot,
      Plan plan,
      Candidate candidate,
      JudgementBuilder draft,
      Ahead ahead,
      boolean alone) {
    this.slot = slot;
    this.plan = plan;
    this.candidate = candidate;
    this.draft = draft;
    this.ahead = ahead;
    this.alone = alone;
  }

  /** Runs the stages that the plan asks for, up to correctness. */
  Outcome judge() throws InterruptedException {
    try (OraclePool.Borrowed borrowed = slot.borrow()) {
      Outcome outcome = judge(borrowed.oracle());
      if (unopened || outcome.status() != Status.INFRASTRUCTURE) borrowed.sound();
      return outcome;
    }
  }

  private Outcome judge(Oracle oracle) throws InterruptedException {
    Outcome outcome = inSession(oracle, plan, draft, session -> calls(session));
    for (int i = 0; i < RESTARTS && outcome.status() == Status.CORRECT && isCut(); i++) {
      Outcome correct = outcome;
      outcome = inSession(oracle, plan, draft, session -> goOn(session, correct));
    }
    if (draft.published().stoppedByGuard()) callUnguarded(oracle);
    Coverage shown = coverage;
    if (shown != null && outcome.status() == Status.CORRECT && plan.reaches(Stage.CORRECT)) {
      serve(oracle, shown);
    }
    return outcome;
  }

  /** Looks at the properties that take a process of their own. */
  private void serve(Oracle oracle, Coverage shown) throws InterruptedException {
    if (!digests.isEmpty() && plan.properties().contains(ServingProperty.REPEATABLE)) {
      JudgementBuilder apart = new JudgementBuilder(draft);
      var _ = inSession(oracle, plan, apart, session -> repeated(session, apart, shown));
    }
    boolean onGpu = slot.gpu() != null;
    if (plan.properties().stream().anyMatch(property -> property.takesCalls(onGpu))) {
      Plan conditions = onGpu ? plan.withoutMemoryChecks() : plan;
      JudgementBuilder apart = new JudgementBuilder(draft);
      var _ = inSession(oracle, conditions, apart, session -> underConditions(session, shown));
    }
    plan.properties().forEach(property -> shown.unknown(property, property.untried(onGpu)));
  }

  /** Makes calls once more in this process, and compares the bits with those of the first. */
  private Outcome repeated(Session session, JudgementBuilder apart, Coverage shown)
      throws InterruptedException, Oracle.Refused {
    OracleMessage.Opened task = session.open(false, alone);
    Set<String> cases = new HashSet<>();
    List<OracleMessage.PlannedCall> again =
        published(task).stream()
            .filter(call -> call.repeats() == null && digests.knows(call))
            .filter(call -> cases.add(call.parameters()))
            .limit(REPEATED)
            .toList();
    if (again.isEmpty()) return Outcome.correct(Stage.CORRECT);
    String varied = digests.varying().isPresent() ? "in another order of its programs" : null;
    Optional<Outcome> failed = session.load(task);
    if (failed.isEmpty()) {
      Calls calls = new Calls(session, plan, apart, Limits.ORACLE, 0, digests);
      failed = calls.judge(again);
      if (varied == null && digests.varying().isPresent()) varied = "in another process";
      if (failed.isEmpty() && varied == null) failed = calls.judgeUntried(again);
    }
    Optional<OracleMessage.PlannedCall> varying = digests.varying();
    if (failed.isEmpty() && varying.isPresent()) {
      String how = Objects.requireNonNullElse(varied, "with another configuration");
      failed =
          Optional.of(
              Outcome.of(
                  Status.NONDETERMINISTIC, Stage.CORRECT, "the same call has other bits " + how));
    }
    shown.show(ServingProperty.REPEATABLE, varying.orElse(again.getFirst()), failed);
    return Outcome.correct(Stage.CORRECT);
  }

  private Outcome underConditions(Session session, Coverage shown)
      throws InterruptedException, Oracle.Refused {
    OracleMessage.Opened task = session.open(false, alone);
    boolean onGpu = slot.gpu() != null;
    if (!onGpu && task.calls().stream().noneMatch(OracleMessage.PlannedCall::large)) {
      return Outcome.correct(Stage.CORRECT);
    }
    if (session.load(task).isPresent()) return Outcome.correct(Stage.CORRECT);
    try {
      serve(new ServingCalls(session, plan, onGpu), session, task, shown);
    } finally {
      lost |= onGpu && session.runner().ended();
    }
    return Outcome.correct(Stage.CORRECT);
  }

  private void serve(ServingCalls calls, Session session, OracleMessage.Opened task, Coverage shown)
      throws InterruptedException, Oracle.Refused {
    List<OracleMessage.PlannedCall> pair = ServingCalls.pair(published(task));
    if (!pair.isEmpty()) {
      OracleMessage.PlannedCall first = pair.getFirst();
      if (asks(ServingProperty.STREAM_SAFE, session, shown)) {
        shown.show(ServingProperty.STREAM_SAFE, first, calls.onStream(first));
      }
      if (asks(ServingProperty.GRAPH_SAFE, session, shown)) {
        shown.show(ServingProperty.GRAPH_SAFE, first, calls.asGraph(first, pair.getLast()));
      }
    }
    for (OracleMessage.PlannedCall call : task.calls()) {
      if (call.large() && asks(ServingProperty.LARGE_INDEX, session, shown)) {
        calls.large(call, shown);
      }
    }
  }

  private boolean asks(ServingProperty property, Session session, Coverage shown) {
    if (!plan.properties().contains(property)) return false;
    if (!property.takesCalls(slot.gpu() != null)) return false;
    if (!session.runner().ended()) return true;
    shown.unknown(property, "the call for another property ended the candidate's process");
    return false;
  }

  /**
   * Makes the calls of the published grade in a process whose tensors do not end at guard pages, as
   * the published tests do: only their rule is asked.
   */
  private void callUnguarded(Oracle oracle) throws InterruptedException {
    Plan unguarded = plan.withoutMemoryChecks();
    JudgementBuilder apart = new JudgementBuilder(draft);
    var _ =
        inSession(oracle, unguarded, apart, session -> publishedCalls(session, unguarded, apart));
    draft.published(apart.published());
  }

  private Outcome publishedCalls(Session session, Plan conditions, JudgementBuilder found)
      throws InterruptedException, Oracle.Refused {
    OracleMessage.Opened task = session.open(false, alone);
    Optional<Outcome> decided = session.load(task);
    if (decided.isEmpty()) {
      Calls calls = new Calls(session, conditions, found, Limits.ORACLE, 0);
      decided = calls.judge(published(task));
    }
    return decided.orElseGet(() -> Outcome.correct(Stage.CORRECT));
  }

  private List<OracleMessage.PlannedCall> published(OracleMessage.Opened task) {
    return planned(task).filter(OracleMessage.PlannedCall::published).toList();
  }

  private Stream<OracleMessage.PlannedCall> planned(OracleMessage.Opened task) {
    return DevelopmentCalls.of(plan.inputs(), task.calls()).stream();
  }

  /** Whether a call is made by itself, and not for what it asks for. */
  private static boolean isAside(OracleMessage.PlannedCall call) {
    return call.large() || call.sized();
  }

  /** Whether a call that does not decide has ended a process with others left to make. */
  private boolean isCut() {
    return plan.grade() == Grade.PUBLISHED
        && coverage != null
        && coverage.faulted()
        && coverage.unfinished()
        && plan.limits().allowAnotherCall(runnerNanos);
  }

  /** What is asked of a candidate in one process. */
  private interface Questions {
    Outcome ask(Session session) throws InterruptedException, Oracle.Refused;
  }

  private Outcome inSession(
      Oracle oracle, Plan conditions, JudgementBuilder found, Questions questions)
      throws InterruptedException {
    Runner runner = slot.runner(conditions, oracle.hello());
    try (Session session = new Session(oracle, runner, conditions, candidate, found, ahead)) {
      Outcome outcome;
      try {
        outcome = questions.ask(session);
      } catch (Oracle.Refused e) {
        outcome = Outcome.refused(e.answer());
      }
      session.end();
      return session.leave(outcome);
    }
  }

  /** Whether the task has benchmark sizes; known after {@link #judge}. */
  boolean sized() {
    return sized;
  }

  private Outcome calls(Session session) throws InterruptedException, Oracle.Refused {
    OracleMessage.Opened task;
    try {
      task = session.open(false, alone);
    } catch (Oracle.Refused e) {
      unopened = e.isOfTheDevice();
      throw e;
    }
    sized = !task.sizes().isEmpty();
    long start = System.nanoTime();
    Optional<Outcome> decided = session.load(task);
    draft.spent(Stage.CALL, (System.nanoTime() - start) / 1e9);
    if (decided.isEmpty()) {
      draft.flags(restsOn(task));
      decided = planned(session, task);
    }
    if (decided.isEmpty()) {
      decided = origin();
    }
    return decided.orElseGet(() -> Outcome.correct(lastBeforePerf(plan.stages())));
  }

  /** Whether others computed more than the policy allows, or who did is not known. */
  private Optional<Outcome> origin() {
    Task task = candidate.task();
    if (plan.policy(task) != Policy.ANY && draft.origins().incomplete()) {
      return Optional.of(Outcome.unaccounted(Stage.CORRECT));
    }
    return draft
        .origins()
        .judge(plan.policy(task), task, Stage.CORRECT, "")
        .or(() -> draft.replays().judge(plan.policy(task), task, Stage.CORRECT, "made again, "));
  }

  /**
   * Makes the calls of the published grade, then the others, which decide at the general grade
   * alone.
   */
  private Optional<Outcome> planned(Session session, OracleMessage.Opened task)
      throws InterruptedException, Oracle.Refused {
    Calls calls = new Calls(session, plan, draft, Limits.ORACLE, 0);
    List<OracleMessage.PlannedCall> published = published(task);
    Optional<Outcome> decided = calls.judge(published);
    if (decided.isEmpty() && plan.reaches(Stage.CORRECT)) decided = calls.judgeUntried(published);
    if (decided.isPresent()) return Optional.of(calls.located(decided.get()));
    decided = calls.judgeSized(planned(task).filter(OracleMessage.PlannedCall::sized).toList());
    if (decided.isPresent()) return decided;
    digests = calls.digests();
    Coverage beyond =
        new Coverage(planned(task).filter(call -> !call.published() && !isAside(call)).toList());
    coverage = beyond;
    if (plan.reaches(Stage.CORRECT)) draft.covered(beyond);
    calls.cover(beyond);
    runnerNanos = calls.runnerNanos();
    if (plan.grade() == Grade.PUBLISHED) return Optional.empty();
    Optional<Outcome> failure = beyond.firstFailure();
    return failure.isPresent() || !beyond.undecided() ? failure : Optional.of(calls.late());
  }

  /** The calls that are left, in a new process. */
  private Outcome goOn(Session session, Outcome outcome)
      throws InterruptedException, Oracle.Refused {
    if (coverage == null) return outcome;
    OracleMessage.Opened task = session.open(false, alone);
    if (session.load(task).isPresent()) {
      runnerNanos = Long.MAX_VALUE; // It does not load any more: no further process.
      return outcome;
    }
    Calls calls = new Calls(session, plan, draft, Limits.ORACLE, runnerNanos);
    calls.cover(coverage);
    runnerNanos = calls.runnerNanos();
    return outcome;
  }

  /** Whether a device may not be what it was after a call that did not decide. */
  boolean faulted() {
    return lost || (coverage != null && coverage.faulted());
  }

  /** Flags that say what the verdict is based on, from the first call on, if that is unusual. */
  private List<String> restsOn(OracleMessage.Opened task) {
    List<String> flags = new ArrayList<>();
    if (task.scaled()) flags.add("scaled_inputs");
    if (task.constant()) flags.add("same_values");
    if (plan.tolerance() == Tolerance.PUBLISHED) flags.add(Tolerance.FLAG);
    if (!plan.memoryChecks()) flags.add(MEMORY_UNCHECKED);
    if (candidate.task().isDegenerate()) flags.add("degenerate_task");
    return flags;
  }

  private static Stage lastBeforePerf(List<Stage> stages) {
    return stages.getLast() == Stage.PERF ? Stage.CORRECT : stages.getLast();
  }
}
