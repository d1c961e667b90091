package dev.kbx.store;

/** The database cannot be opened, read or written; the message names it and the cause. */
public sealed class StoreProblem extends RuntimeException permits ClaimLost {
  private static final long serialVersionUID = 1;

  StoreProblem(String where, String why) {
    super(where + ": " + why);
  }

  StoreProblem(String where, String why, Throwable cause) {
    super(where + ": " + why, cause);
  }
}
