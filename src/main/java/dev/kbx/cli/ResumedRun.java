package dev.kbx.cli;

import dev.kbx.run.Plan;
import dev.kbx.store.Store;
import dev.kbx.verdict.RunInfo;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** Which run {@code --resume} continues, and whether it still can. */
final class ResumedRun {
  private ResumedRun() {}

  /**
   * The newest run over these sources; an unfinished one before a finished one; empty when there is
   * none.
   */
  static Optional<RunInfo> find(Store store, List<Path> sources) {
    List<String> names = sources.stream().map(Path::toString).toList();
    List<RunInfo> runs =
        store.runs().stream().filter(r -> names.isEmpty() || r.sources().equals(names)).toList();
    return runs.stream()
        .filter(run -> run.finished() == null)
        .findFirst()
        .or(() -> runs.stream().findFirst());
  }

  /** Throws when what is there now is not what the run was begun with. */
  static void check(
      RunInfo run,
      boolean resumed,
      int candidates,
      List<String> rulesOff,
      Plan plan,
      WorkerPool pool) {
    if (!resumed) return;
    if (run.candidates() != candidates) {
      throw new UserError(
          "run %s had %d candidates and the sources now hold %d; start a new run without --resume"
              .formatted(run.id(), run.candidates(), candidates));
    }
    if (!run.rulesOff().equals(rulesOff)) {
      throw new UserError(
          "run %s was begun with %s, this is %s; start a new run without --resume"
              .formatted(run.id(), named(run.rulesOff()), named(rulesOff)));
    }
    if (!run.baseline().equals(plan.against())) {
      throw new UserError(
          "run %s was begun against %s, this is against %s; start a new run without --resume"
              .formatted(run.id(), run.baseline(), plan.against()));
    }
    if (!run.tolerance().equals(plan.tolerance().label())) {
      throw new UserError(
          "run %s was begun with --tolerance %s, this is with %s; start a new run without --resume"
              .formatted(run.id(), run.tolerance(), plan.tolerance().label()));
    }
    if (!run.device().equals(pool.device()) || !run.versions().equals(pool.versions())) {
      throw new UserError(
          "run %s was begun on %s with %s, this is %s with %s; start a new run without --resume"
              .formatted(
                  run.id(),
                  run.device().name(),
                  run.versions(),
                  pool.device().name(),
                  pool.versions()));
    }
  }

  private static String named(List<String> rulesOff) {
    return rulesOff.isEmpty() ? "all rules on" : "--off " + String.join(",", rulesOff);
  }
}
