package dev.kbx.judge;

import dev.kbx.candidate.Candidate;
import dev.kbx.device.Gpu;
import dev.kbx.device.Spending;
import dev.kbx.outcome.Outcome;
import dev.kbx.plan.Plan;
import dev.kbx.timing.BaselineInterference;
import dev.kbx.timing.References;
import dev.kbx.timing.Timing;
import dev.kbx.timing.Watch;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Status;
import dev.kbx.worker.Message;
import dev.kbx.worker.Oracle;
import dev.kbx.worker.OracleMessage;
import dev.kbx.worker.Runner;
import dev.kbx.worker.WorkerFailure;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Runs the performance stage of one correct candidate: in a runner of its own, alone on the GPU.
 * Nothing that the candidate or others started earlier is still running.
 */
final class Performance {
  private final Gpu gpu;
  private final References references;
  private final Plan plan;
  private final Candidate candidate;
  private final JudgementBuilder draft;
  private final Ahead ahead;
  private final Spending spending;
  private @Nullable BaselineInterference quiet;
  private List<OracleMessage.Size> sizes = List.of();
  private @Nullable Timing timing;
  private @Nullable Session expert;

  Performance(
      SharedGpu bench, Plan plan, Candidate candidate, JudgementBuilder draft, Ahead ahead) {
    this.gpu = bench.gpu();
    this.references = bench.references();
    this.plan = plan;
    this.candidate = candidate;
    this.draft = draft;
    this.ahead = ahead;
    this.spending = gpu.spending();
  }

  /** Times every size. The caller must hold the device exclusively. */
  Outcome judge() throws InterruptedException {
    String source = plan.expert(candidate.task());
    if (source == null) return judged();
    try (Session beside = start(expert(source), new JudgementBuilder(draft), Ahead.NOTHING)) {
      expert = beside;
      return judged();
    }
  }

  private Candidate expert(String source) {
    return new Candidate(candidate.task(), source, "--baseline", 0, null, null, null);
  }

  private Outcome judged() throws InterruptedException {
    long start = System.nanoTime();
    try (Session session = start(candidate, draft, ahead)) {
      Outcome outcome;
      try {
        outcome = end(session, time(session));
      } catch (Oracle.Refused e) {
        session.end();
        outcome = refused(e);
      }
      return session.leave(outcome);
    } catch (RuntimeException e) {
      gpu.reset();
      throw e;
    } finally {
      draft.spent(Stage.PERF, (System.nanoTime() - start) / 1e9);
    }
  }

  private Session start(Candidate whose, JudgementBuilder own, Ahead compiled)
      throws InterruptedException {
    return spending.on(
        "start",
        () -> {
          Oracle oracle = gpu.oracle();
          Runner runner = gpu.runner(Runner.Use.TIMED, plan.arch(), oracle.hello(), plan.limits());
          return new Session(oracle, runner, plan, whose, own, compiled);
        });
  }

  private Outcome time(Session session) throws InterruptedException, Oracle.Refused {
    var _ = spending.on("peaks", gpu::peaks); // No code of the candidate may be loaded yet.
    Session beside = expert;
    Integer number = beside == null ? null : (Integer) beside.runner().number();
    OracleMessage.Opened task = spending.on("open", () -> session.open(true, true, number));
    sizes = task.sizes();
    List<BaselineInterference.Times> times =
        spending.on("baseline", () -> references.quiet(candidate.task(), sizes, plan.warm()));
    BaselineInterference before = new BaselineInterference(session.oracle(), times, plan.warm());
    quiet = before;
    Optional<Outcome> unloaded =
        beside == null
            ? Optional.empty()
            : spending.on("load", () -> beside.load(task.forExpert()));
    if (unloaded.isPresent()) {
      throw new WorkerFailure("the expert's kernel does not load: " + unloaded.get().message());
    }
    Optional<Outcome> decided = spending.on("load", () -> session.load(task));
    if (decided.isPresent()) return decided.get().at(Stage.PERF);
    Watch watch =
        new Watch(plan.policy(candidate.task()), candidate.task(), draft.origins().contributes());
    Timing sized =
        new Timing(
            session.oracle(),
            session.runner(),
            plan,
            gpu,
            references,
            candidate.task().file(),
            before,
            watch,
            sizes,
            beside == null ? null : beside.runner());
    timing = sized;
    return sized.judge().orElse(Outcome.correct(Stage.PERF));
  }

  /** Ends the runner. Afterwards it shows whether it slowed down the reference. */
  private Outcome end(Session session, Outcome outcome) throws InterruptedException {
    return spending.on(
        "end",
        () -> {
          session.end();
          if (outcome.status() != Status.CORRECT || quiet == null || timing == null) return outcome;
          Optional<Outcome> held = quiet.verdict();
          if (held.isPresent()) return held.get();
          if (timing.tooSlow()) {
            draft.tooSlow(timing.measuredSizes());
            return outcome;
          }
          draft.timing(timing.settle());
          return outcome;
        });
  }

  /** Whether the candidate's process failed at a step that does not affect its verdict. */
  boolean faulted() {
    return timing != null
        && (timing.tooSlow() || timing.dropped().filter(Outcome::isFault).isPresent());
  }

  /**
   * The outcome if the oracle refused. It had memory for every size before the candidate was
   * loaded. If it has it again now that the runner is gone, the candidate took it.
   *
   * @throws WorkerFailure if only the reference's graphs have no memory: retried without graphs
   */
  private Outcome refused(Oracle.Refused refusal) throws InterruptedException {
    if (quiet == null || refusal.answer().reason() != Message.Failed.Reason.MEMORY) {
      return Outcome.refused(refusal.answer()).at(Stage.PERF);
    }
    if (timing != null && timing.hasNoRoomForGraphs()) {
      throw new WorkerFailure("the GPU has no room for graphs of the reference");
    }
    try {
      var _ = BaselineInterference.measure(gpu.oracle(), sizes, plan.warm());
    } catch (Oracle.Refused e) {
      return Outcome.refused(e.answer()).at(Stage.PERF);
    }
    return Outcome.of(
        Status.OUT_OF_MEMORY,
        Stage.PERF,
        "while the candidate's process lived, the reference's inputs had no room on the GPU;"
            + " without it they have");
  }
}
