package dev.kbx.report;

/** Runs that say nothing together: which, why, and what to do instead, in one line. */
public final class IncomparableRuns extends RuntimeException {
  private static final long serialVersionUID = 1;

  IncomparableRuns(String message) {
    super(message);
  }
}
