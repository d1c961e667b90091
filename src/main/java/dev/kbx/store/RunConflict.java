package dev.kbx.store;

import java.nio.file.Path;

/** Two databases hold different runs under one id: which, and what to do. */
public final class RunConflict extends RuntimeException {
  private static final long serialVersionUID = 1;

  RunConflict(Path file, String run) {
    super(
        "%s: run %s differs from the run of that id already there; delete one of them first"
                .formatted(file, run)
            + " (kbx runs delete)");
  }
}
