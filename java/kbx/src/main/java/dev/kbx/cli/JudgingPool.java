package dev.kbx.cli;

import dev.kbx.candidate.Candidate;
import dev.kbx.judge.JudgingReferee;
import dev.kbx.judge.Repeats;
import dev.kbx.judge.TaskReferee;
import dev.kbx.plan.Plan;
import dev.kbx.prompt.MeasuredPeaks;
import dev.kbx.python.PythonProblem;
import dev.kbx.run.RememberingReferee;
import dev.kbx.run.RunService;
import dev.kbx.store.RunStore;
import dev.kbx.store.Stored;
import dev.kbx.task.Suite;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Verdict;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** What a command judges with: workers of this machine, or a cluster. */
interface JudgingPool extends AutoCloseable {
  /**
   * Starts what the options ask for.
   *
   * @param suites whose tasks are judged
   */
  static JudgingPool start(
      WorkerOptions workers, ClusterOptions cluster, Collection<Suite> suites, Plan plan)
      throws InterruptedException, PythonProblem {
    if (cluster.address().isEmpty()) return WorkerPool.start(workers, plan);
    if (!Stages.needPython(plan.stages())) {
      throw new UserError("--cluster: static checks need no device; leave it away");
    }
    return ClusterPool.start(workers, cluster, suites);
  }

  /** The same for commands that judge by more than one plan. */
  static JudgingPool start(WorkerOptions workers, ClusterOptions cluster, Collection<Suite> suites)
      throws InterruptedException, PythonProblem {
    return cluster.address().isEmpty()
        ? WorkerPool.start(workers)
        : ClusterPool.start(workers, cluster, suites);
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

  /**
   * Judges candidates of a run that have no verdict yet, and shows progress.
   *
   * @param listener receives every stored verdict, one at a time
   */
  default void judge(
      RunStore store, Plan plan, RunInfo run, List<Candidate> candidates, Consumer<Stored> listener)
      throws InterruptedException {
    Progress progress = progress(candidates.size(), store.count(run.id()));
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
   * Judges candidates as {@link Repeats} does, and shows progress.
   *
   * @param listener receives every verdict, one at a time
   */
  default List<Verdict> repeat(Plan plan, List<Candidate> candidates, Consumer<Verdict> listener)
      throws InterruptedException {
    Progress progress = progress(candidates.size(), 0);
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

  private Progress progress(int candidates, int judged) {
    return new Progress(
        System.err,
        Terminal.interactive(),
        Terminal.columns(),
        candidates,
        judged,
        this::described);
  }

  /** What judges now, for the line of progress; empty on this machine, where it does not change. */
  String described();

  @Override
  void close();
}
