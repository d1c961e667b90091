package dev.kbx.run;

import static java.util.Objects.requireNonNull;

import dev.kbx.candidate.Candidate;
import dev.kbx.task.Policy;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Status;
import dev.kbx.worker.DeviceSlot;
import dev.kbx.worker.Message;
import dev.kbx.worker.Oracle;
import dev.kbx.worker.Runner;
import dev.kbx.worker.WorkerFailure;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * One candidate with one fresh runner and the slot's oracle, from fork to the end of its process
 * tree.
 *
 * <p>The order of questions is the protocol of a judgement: the runner is told what to call, the
 * oracle is asked what came of it; nothing the runner says is believed.
 */
final class Session {
  /** Oracle work on one call or file: seconds at most, on a machine that may be busy. */
  private static final Duration ORACLE = Duration.ofMinutes(2);

  /** Mapping two arenas; on a GPU that creates the CUDA context. */
  private static final Duration ATTACH = Duration.ofSeconds(60);

  private final Workers.Slot slot;
  private final Plan plan;
  private final Candidate candidate;
  private final Draft draft;
  private @Nullable QuietBaseline quiet;

  Session(Workers.Slot slot, Plan plan, Candidate candidate, Draft draft) {
    this.slot = slot;
    this.plan = plan;
    this.candidate = candidate;
    this.draft = draft;
  }

  /**
   * Runs the stages and ends the runner's tree whatever happens. Throws WorkerFailure for kbx's own
   * failures.
   */
  Outcome judge() throws InterruptedException {
    Oracle oracle = slot.oracle();
    Runner runner =
        slot.zygote().spawn(slot.device(), plan.arch(), oracle.hello(), plan.limits().allowance());
    try {
      Outcome outcome = stages(oracle, runner);
      draft.output(runner.end().output());
      if (outcome.status() == Status.CORRECT) outcome = alone(outcome);
      close(oracle);
      String violation = runner.violation();
      return outcome.status() == Status.CORRECT && violation != null
          ? Outcome.violation(outcome.stage(), violation)
          : outcome;
    } finally {
      runner.close();
    }
  }

  private Outcome stages(Oracle oracle, Runner runner) throws InterruptedException {
    try {
      Message.Opened task = open(oracle, runner);
      Calls calls = new Calls(oracle, runner, plan, draft, ORACLE);
      QuietBaseline baseline =
          timed(task)
              ? new QuietBaseline(oracle, slot.quietBaseline(candidate.task(), task.sizes()))
              : null;
      quiet = baseline;
      Optional<Outcome> decided = load(runner, task);
      if (decided.isEmpty()) decided = calls.judge(task.calls());
      if (decided.isEmpty()) {
        decided = draft.origins().judge(Policy.of(candidate.task()), Stage.CORRECT, "");
      }
      if (decided.isPresent()) return decided.get();
      if (!plan.reaches(Stage.PERF) || slot.device().kind() != DeviceSlot.Kind.CUDA) {
        return Outcome.correct(lastBeforePerf());
      }
      if (task.sizes().isEmpty()) {
        draft.flags(List.of("no_sizes"));
        return Outcome.correct(lastBeforePerf());
      }
      WatchedCall watched = new WatchedCall(runner, plan, Policy.of(candidate.task()));
      return new Timing(
              oracle, runner, plan, draft, slot.peaks(), requireNonNull(baseline), watched)
          .judge(task.sizes());
    } catch (Oracle.Refused e) {
      return refused(e.answer());
    }
  }

  /** The outcome, held against what the reference takes now that the runner is gone. */
  private Outcome alone(Outcome outcome) throws InterruptedException {
    try {
      return quiet == null ? outcome : quiet.verdict().orElse(outcome);
    } catch (Oracle.Refused e) {
      return refused(e.answer());
    }
  }

  private boolean timed(Message.Opened task) {
    return plan.reaches(Stage.PERF)
        && slot.device().kind() == DeviceSlot.Kind.CUDA
        && !task.sizes().isEmpty();
  }

  private Stage lastBeforePerf() {
    Stage last = plan.stages().getLast();
    return last == Stage.PERF ? Stage.CORRECT : last;
  }

  private Message.Opened open(Oracle oracle, Runner runner)
      throws InterruptedException, Oracle.Refused {
    return oracle.ask(
        Message.Opened.class,
        id ->
            new Message.Open(
                id,
                candidate.task().file().toAbsolutePath().toString(),
                Seeds.of(plan.secret(), candidate.task(), candidate.hash()),
                runner.number(),
                plan.reaches(Stage.PERF)),
        ORACLE);
  }

  /**
   * Before a runner has any of the candidate's code, whatever goes wrong is kbx's to answer for.
   */
  private static void attach(Runner runner, Message.Opened task) throws InterruptedException {
    try {
      Message answer =
          runner.ask(Message.Attached.class, id -> new Message.Attach(id, task.arenas()), ATTACH);
      if (answer instanceof Message.Raised raised) {
        throw new WorkerFailure("a runner could not map its arenas: " + raised.message());
      }
    } catch (TimeoutException e) {
      throw new WorkerFailure(
          "a runner did not map its arenas within " + ATTACH.toSeconds() + " s", e);
    } catch (Runner.Lost e) {
      throw new WorkerFailure("a runner was lost before it had the source: " + e.getMessage(), e);
    }
  }

  private Optional<Outcome> load(Runner runner, Message.Opened task) throws InterruptedException {
    Duration limit = plan.limits().load();
    long start = System.nanoTime();
    try {
      attach(runner, task);
      List<String> entries = task.entries();
      List<String> operations = candidate.task().operations();
      Message answer =
          runner.ask(
              Message.Loaded.class,
              id -> new Message.Load(id, candidate.code(), entries, operations),
              limit);
      return answer instanceof Message.Raised raised
          ? Optional.of(Outcome.raised(raised, true))
          : Optional.empty();
    } catch (TimeoutException e) {
      return Optional.of(Outcome.timeout(Stage.CALL, "importing the source", limit));
    } catch (Runner.Lost e) {
      return Optional.of(Outcome.lost(e, Stage.CALL));
    } finally {
      draft.spent(Stage.CALL, (System.nanoTime() - start) / 1e9);
    }
  }

  private static Outcome refused(Message.Failed answer) {
    String where =
        answer.file() == null
            ? ""
            : answer.file() + (answer.line() == null ? "" : ":" + answer.line()) + ": ";
    Status status =
        answer.reason().equals("invalid_task") ? Status.INVALID_TASK : Status.INFRASTRUCTURE;
    return Outcome.of(status, Stage.CALL, where + answer.message());
  }

  private static void close(Oracle oracle) throws InterruptedException {
    try {
      oracle.ask(Message.Closed.class, Message.Close::new, ORACLE);
    } catch (Oracle.Refused e) {
      throw new WorkerFailure("the oracle could not close a candidate: " + e.getMessage(), e);
    }
  }
}
