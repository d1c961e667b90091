package dev.kbx.store;

/**
 * Two databases hold different runs under one id; the message names the run and says what to do.
 */
public final class RunConflict extends RuntimeException {
  private static final long serialVersionUID = 1;

  RunConflict(String from, String run) {
    super(
        "%s: run %s differs from the run of that id already there; delete one of them first"
                .formatted(from, run)
            + " (kbx runs delete)");
  }
}
