package dev.kbx.cli;

import dev.kbx.candidate.Candidate;
import dev.kbx.plan.Plan;
import dev.kbx.run.RunService;
import dev.kbx.task.Task;
import dev.kbx.verdict.RunInfo;
import java.time.Instant;
import java.util.List;

/** What is recorded of a run that begins. */
final class NewRun {
  private NewRun() {}

  /**
   * The run.
   *
   * @param sources in words
   * @param suite its label
   * @param tasks the selection as given
   * @param selected the tasks of that selection
   * @param count how many candidates it will have
   * @param candidates those that are known
   */
  static RunInfo of(
      String id,
      List<String> sources,
      String suite,
      String tasks,
      Plan plan,
      List<String> rulesOff,
      JudgingPool pool,
      List<Task> selected,
      int count,
      List<Candidate> candidates) {
    return new RunInfo(
        id,
        Instant.now(),
        null,
        sources,
        suite,
        tasks,
        plan.stages(),
        rulesOff,
        pool.device(),
        pool.versions(),
        count,
        (int) selected.stream().filter(task -> !task.extra()).count(),
        plan.against(),
        plan.tolerance().label(),
        plan.grade().label(),
        plan.precision().label(),
        plan.policies(selected),
        plan.publishedAccounting(),
        RunService.settings(plan, candidates),
        null);
  }
}
