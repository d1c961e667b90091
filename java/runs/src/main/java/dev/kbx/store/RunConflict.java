package dev.kbx.store;

import dev.kbx.error.InputException;

/**
 * Two databases hold different runs under one id; the message names the run and says what to do.
 */
final class RunConflict extends InputException {
  private static final long serialVersionUID = 1;

  RunConflict(String from, String run) {
    super(
        "%s: run %s differs from the run of that id already there; delete one of them first"
                .formatted(from, run)
            + " (kbx runs delete)");
  }
}
