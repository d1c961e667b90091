package dev.kbx.app;

import dev.kbx.candidate.Candidate;
import dev.kbx.plan.Plan;
import dev.kbx.run.RunService;
import dev.kbx.store.RunStore;
import dev.kbx.task.OwnReference;
import dev.kbx.task.Task;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Stage;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * A run that {@code --resume} continues. All its settings must be unchanged, as verdicts of one run
 * are comparable.
 */
record ResumedRun(RunInfo run) {

  /** The newest run of these sources, preferably an unfinished one; empty if there is none. */
  static Optional<ResumedRun> find(RunStore store, List<Path> sources) {
    List<String> names = sources.stream().map(Path::toString).toList();
    List<RunInfo> runs =
        store.runs().stream()
            .filter(r -> r.published() == null)
            .filter(r -> names.isEmpty() || r.sources().equals(names))
            .toList();
    return runs.stream()
        .filter(run -> run.finished() == null)
        .findFirst()
        .or(() -> runs.stream().findFirst())
        .map(ResumedRun::new);
  }

  /** Throws if its plan differs. */
  void checkPlan(RunPlan asked) {
    Plan plan = asked.plan();
    String suite = asked.suite().label();
    same(how(run.suite(), suite), run.suite(), suite);
    same("with --tasks ", run.tasks(), asked.tasks());
    same("with --stages ", stages(run.stages()), stages(plan.stages()));
    same("with ", rules(run.rulesOff()), rules(asked.rulesOff()));
    same("against ", run.baseline(), plan.against());
    same("with --tolerance ", run.tolerance(), plan.tolerance().label());
    same("with --grade ", run.grade(), plan.grade().label());
    same("with --precision ", run.precision(), plan.precision().label());
    String policies = plan.policies(asked.selected());
    same("with --policy ", Objects.requireNonNullElse(run.policy(), policies), policies);
    same("", accounting(run.publishedAccounting()), accounting(plan.publishedAccounting()));
    RunInfo.Settings then = run.settings();
    if (then == null) return;
    RunInfo.Settings now = RunService.settings(plan, List.of());
    if (!run.device().kind().equals("cuda")) same("with --arch ", then.arch(), now.arch());
    same("with --timeout ", then.timeoutSeconds(), now.timeoutSeconds());
    same("", profiles(then.profile()), profiles(now.profile()));
    if (!then.seed().equals(now.seed())) {
      throw new UserError(
          "run %s was begun with another --seed, or where .kbx/secret was another; start a new run without --resume"
              .formatted(run.id()));
    }
  }

  /** Throws if its candidates differ from these. */
  void checkCandidates(List<Candidate> candidates, Plan plan, RunStore store) {
    if (run.candidates() != candidates.size()) {
      throw new UserError(
          "run %s had %d candidates and the sources now hold %d; start a new run without --resume"
              .formatted(run.id(), run.candidates(), candidates.size()));
    }
    checkTasks(candidates, store);
    RunInfo.Settings then = run.settings();
    if (then != null && then.sources().equals(RunService.settings(plan, candidates).sources()))
      return;
    for (RunStore.Judged judged : store.judged(run.id())) {
      Candidate candidate = candidates.get(judged.position());
      if (candidate.identity().equals(judged.identity())) continue;
      throw new UserError(
          "%s is not what run %s judged there: restore it, or start a new run without --resume"
              .formatted(candidate.origin(), run.id()));
    }
  }

  /**
   * Throws if verdicts of a task would be mixed that may not be comparable: if some of its
   * candidates are judged, some are not, and its code may read files that have changed meanwhile.
   */
  private void checkTasks(List<Candidate> candidates, RunStore store) {
    Set<Integer> judged =
        store.judged(run.id()).stream().map(RunStore.Judged::position).collect(Collectors.toSet());
    Map<Task, Set<Boolean>> states = new LinkedHashMap<>();
    for (int i = 0; i < candidates.size(); i++) {
      states
          .computeIfAbsent(candidates.get(i).task(), _ -> new HashSet<>())
          .add(judged.contains(i));
    }
    states.forEach((task, state) -> {
      if (state.size() == 1) return;
      task.reads()
          .ifPresent(place -> {
            throw new UserError(
                "run %s cannot go on: its task %s may read other files (%s), and whether these are as they were is not known; start a new run without --resume"
                    .formatted(run.id(), task.path(), place));
          });
    });
  }

  /** Throws if device or software versions differ. */
  void checkDevice(JudgingPool pool) {
    if (run.device().equals(pool.device()) && run.versions().equals(pool.versions())) return;
    throw new UserError(
        "run %s was begun on %s with %s, this is %s with %s; start a new run without --resume"
            .formatted(
                run.id(),
                run.device().name(),
                run.versions(),
                pool.device().name(),
                pool.versions()));
  }

  /** One line about how it continues. */
  String described(int judged) {
    return judged == run.candidates()
        ? "run %s is complete: nothing is judged again".formatted(run.id())
        : "run %s goes on: %d of %d were judged".formatted(run.id(), judged, run.candidates());
  }

  private void same(String how, Object then, Object now) {
    if (then.equals(now)) return;
    throw new UserError(
        "run %s was begun %s%s, this is %s%s; give the same, or start a new run without --resume"
            .formatted(run.id(), how, then, how, now));
  }

  /** A reference of the user's own says by itself what it is. */
  private static String how(String then, String now) {
    return (then + now).contains(OwnReference.LABEL) ? "on " : "with --suite ";
  }

  private static String stages(List<Stage> stages) {
    return stages.stream().map(Stage::label).collect(Collectors.joining(","));
  }

  private static String rules(List<String> off) {
    return off.isEmpty() ? "all rules on" : "--off " + String.join(",", off);
  }

  private static String accounting(boolean published) {
    return published ? "with published accounting" : "with --no-published-accounting";
  }

  private static String profiles(boolean profile) {
    return profile ? "with --profile" : "without --profile";
  }
}
