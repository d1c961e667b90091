package dev.kbx.cli;

import dev.kbx.report.RunVerdicts;
import dev.kbx.store.RunStore;

/** Reads a run's verdicts from the store for reports. */
final class StoredVerdicts {
  private StoredVerdicts() {}

  static RunVerdicts of(RunStore store, String run) {
    RunVerdicts.Reader reader = new RunVerdicts.Reader();
    store.forEach(run, stored -> reader.add(stored.position(), stored.verdict()));
    return reader.verdicts(position -> store.verdict(run, position));
  }
}
