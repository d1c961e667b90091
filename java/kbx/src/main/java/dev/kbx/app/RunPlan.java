package dev.kbx.app;

import dev.kbx.candidate.Candidate;
import dev.kbx.error.InputException;
import dev.kbx.plan.ModulePrecision;
import dev.kbx.plan.Plan;
import dev.kbx.run.RunService;
import dev.kbx.store.RunStore;
import dev.kbx.task.Task;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.RunLabel;
import dev.kbx.verdict.Verdict;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/**
 * The tasks that candidates of a run are for, and the plan by which they are judged.
 *
 * @param tasks the selection as given, {@code *} for all
 * @param selected the tasks of that selection
 * @param rulesOff ids of the static rules that are off, sorted
 * @param label of runs by this plan
 */
public record RunPlan(
    ChosenSuite suite,
    String tasks,
    List<Task> selected,
    Plan plan,
    List<String> rulesOff,
    RunLabel label) {
  public RunPlan {
    selected = List.copyOf(selected);
    rulesOff = List.copyOf(rulesOff);
  }

  /**
   * Selects the tasks. Throws if there is none, or one cannot be judged in the plan's precision.
   */
  public static RunPlan of(ChosenSuite suite, String tasks, Plan plan, List<String> rulesOff) {
    List<Task> selected = suite.suite().find(tasks);
    check(plan.precision(), selected);
    return new RunPlan(suite, tasks, selected, plan, rulesOff, RunLabel.NONE);
  }

  /** Throws if one of the tasks states its own dtypes and other ones are asked for. */
  public static void check(ModulePrecision precision, List<Task> tasks) {
    if (precision == ModulePrecision.FP32) return;
    for (Task task : tasks) {
      if (task.isModule()) continue;
      throw new InputException(
          "--precision %s: %s states its own dtypes; only tasks with a Model, as those of --suite kernelbench, can be cast"
              .formatted(
                  precision.label(), task.isOwn() ? "the reference " + task.name() : task.path()));
    }
  }

  /** Returns an architecture that kernels can be compiled for without a GPU, or throws. */
  static String arch(String name) {
    if (Plan.ARCHITECTURES.contains(name)) return name;
    throw new InputException(
        "--arch %s: use one of %s".formatted(name, String.join(", ", Plan.ARCHITECTURES)));
  }

  /** These tasks by another plan. */
  public RunPlan with(Plan other) {
    return new RunPlan(suite, tasks, selected, other, rulesOff, label);
  }

  /** The same plan for runs with that name and note. */
  public RunPlan labelled(RunLabel given) {
    return new RunPlan(suite, tasks, selected, plan, rulesOff, given);
  }

  /**
   * Records in a store that a run begins.
   *
   * @param sources in words
   * @param count how many candidates it will have
   * @param candidates those that are known
   */
  RunInfo begin(
      RunStore store,
      String id,
      List<String> sources,
      JudgingPool pool,
      int count,
      List<Candidate> candidates) {
    RunInfo run = run(id, sources, pool.device(), pool.versions(), count, candidates);
    store.begin(run);
    return run;
  }

  /** This run, whose candidates are timed beside kernels, by the path of their task. */
  public RunPlan beside(Map<String, String> experts) {
    return experts.isEmpty()
        ? this
        : new RunPlan(suite, tasks, selected, plan.beside(experts), rulesOff, label);
  }

  /** A run that begins now; the parameters are those of {@link #begin}. */
  public RunInfo run(
      String id,
      List<String> sources,
      Verdict.Device device,
      Map<String, String> versions,
      int count,
      List<Candidate> candidates) {
    return new RunInfo(
        id,
        Instant.now(),
        null,
        sources,
        suite.label(),
        tasks,
        plan.stages(),
        rulesOff,
        device,
        versions,
        count,
        (int) selected.stream().filter(task -> !task.extra()).count(),
        plan.against(),
        plan.tolerance().label(),
        plan.grade().label(),
        plan.precision().label(),
        plan.policies(selected),
        plan.publishedAccounting(),
        RunService.settings(plan, candidates),
        null,
        label.name(),
        label.note());
  }
}
