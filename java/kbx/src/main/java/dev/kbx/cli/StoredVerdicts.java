package dev.kbx.cli;

import dev.kbx.report.RunVerdicts;
import dev.kbx.store.RunStore;
import dev.kbx.verdict.BriefVerdict;
import java.util.function.Predicate;

/** Reads a run's verdicts from the store for reports. */
final class StoredVerdicts {
  private StoredVerdicts() {}

  static RunVerdicts of(RunStore store, String run) {
    return of(store, run, _ -> true);
  }

  /** Those on kernels of one method. */
  static RunVerdicts of(RunStore store, String run, String method) {
    return of(store, run, verdict -> method.equals(verdict.method()));
  }

  private static RunVerdicts of(RunStore store, String run, Predicate<BriefVerdict> wanted) {
    RunVerdicts.Reader reader = new RunVerdicts.Reader();
    store.forEachRow(
        run,
        stored -> {
          BriefVerdict verdict = stored.verdict();
          if (wanted.test(verdict)) reader.add(stored.position(), verdict);
        });
    return reader.verdicts(position -> store.verdict(run, position));
  }
}
