package dev.kbx.analysis;

import dev.kbx.error.InputException;

/** Runs that cannot be analysed or compared. */
public final class IncomparableRuns extends InputException {
  private static final long serialVersionUID = 1;

  /** One line: which runs, why, and what to do instead. */
  public IncomparableRuns(String message) {
    super(message);
  }
}
