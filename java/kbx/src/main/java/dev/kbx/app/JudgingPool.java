package dev.kbx.app;

import dev.kbx.candidate.Candidate;
import dev.kbx.check.Rules;
import dev.kbx.error.InputException;
import dev.kbx.judge.JudgingReferee;
import dev.kbx.judge.Repeats;
import dev.kbx.judge.TaskReferee;
import dev.kbx.plan.Limits;
import dev.kbx.plan.ModulePrecision;
import dev.kbx.plan.Plan;
import dev.kbx.prompt.MeasuredPeaks;
import dev.kbx.run.RememberingReferee;
import dev.kbx.run.RunService;
import dev.kbx.store.RunStore;
import dev.kbx.store.Stored;
import dev.kbx.task.Suite;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Verdict;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** What a command judges with: workers of this machine, or a cluster. */
public interface JudgingPool extends AutoCloseable {
  /**
   * Starts what the settings ask for.
   *
   * @param suites whose tasks are judged
   * @throws InputException if the plan has the perf stage alone, and no GPU is used
   */
  static JudgingPool start(JudgingSettings settings, Collection<Suite> suites, Plan plan)
      throws InterruptedException {
    JudgingPool pool = started(settings, suites, plan);
    if (!plan.isPerfAlone() || pool.device().onGpu()) return pool;
    pool.close();
    throw new InputException(
        "--stages perf: needs a GPU, and none is used, so nothing would be judged; leave it away");
  }

  private static JudgingPool started(JudgingSettings settings, Collection<Suite> suites, Plan plan)
      throws InterruptedException {
    if (settings.cluster() == null) return WorkerPool.start(settings, plan);
    if (!needsPython(plan.stages())) {
      throw new InputException("--cluster: static checks need no device; leave it away");
    }
    return start(settings, suites);
  }

  /** Starts a pool for commands that judge by more than one plan. */
  static JudgingPool start(JudgingSettings settings, Collection<Suite> suites)
      throws InterruptedException {
    return settings.cluster() == null
        ? WorkerPool.start(settings)
        : ClusterPool.start(settings, settings.cluster(), suites);
  }

  /** Whether any of these stages needs workers; the static stage does not. */
  static boolean needsPython(List<Stage> stages) {
    return stages.getLast() != Stage.STATIC;
  }

  /** The plan by which the controls of tasks are judged: up to correctness, without timing. */
  static Plan controls(String arch, String secret, ModulePrecision precision) {
    return new Plan(
            List.of(Stage.STATIC, Stage.COMPILE, Stage.CALL, Stage.CORRECT),
            Rules.all(),
            RunPlan.arch(arch),
            secret,
            Limits.defaults())
        .at(precision);
  }

  /** The referee; it caches nothing. */
  JudgingReferee referee();

  /** Judges tasks by this plan. */
  TaskReferee tasks(Plan plan) throws InterruptedException;

  /** The device, or what a cluster's devices have in common. */
  Verdict.Device device();

  /** Versions of the software that judges, by name; of a cluster's first node. */
  Map<String, String> versions();

  /** Peaks of the device, as far as earlier runs have measured them. */
  MeasuredPeaks peaks() throws InterruptedException;

  /** Hears of what is judged. */
  Observer observer();

  /**
   * Judges candidates of a run that have no verdict yet.
   *
   * @param listener receives every stored verdict, one at a time
   */
  default void judge(
      RunStore store, Plan plan, RunInfo run, List<Candidate> candidates, Consumer<Stored> listener)
      throws InterruptedException {
    Observer.Judging progress =
        observer().judging(candidates.size(), store.count(run.id()), this::described);
    RememberingReferee remembering = new RememberingReferee(referee(), store);
    RunService.Listener both =
        (stored, verdict) -> {
          listener.accept(stored);
          progress.verdict(verdict);
        };
    try (RunService service = RunService.open(store, remembering, plan, run, both)) {
      service.submitAll(candidates);
      service.finish();
    } finally {
      progress.finish(remembering.remembered());
    }
  }

  /**
   * Judges candidates as {@link Repeats} does.
   *
   * @param listener receives every verdict, one at a time
   */
  default List<Verdict> repeat(Plan plan, List<Candidate> candidates, Consumer<Verdict> listener)
      throws InterruptedException {
    Observer.Judging progress = observer().judging(candidates.size(), 0, this::described);
    try {
      return new Repeats(referee(), plan)
          .judge(
              candidates,
              verdict -> {
                listener.accept(verdict);
                progress.verdict(verdict);
              });
    } finally {
      progress.finish(0);
    }
  }

  /** What judges now, for the line of progress; empty on this machine, where it does not change. */
  String described();

  @Override
  void close();
}
