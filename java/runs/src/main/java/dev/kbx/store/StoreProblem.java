package dev.kbx.store;

import dev.kbx.error.EnvironmentException;

/** The database cannot be opened, read or written; the message names it and the cause. */
public sealed class StoreProblem extends EnvironmentException permits ClaimLost {
  private static final long serialVersionUID = 1;

  private final boolean refused;

  StoreProblem(String where, String why) {
    super(where + ": " + why);
    this.refused = false;
  }

  StoreProblem(String where, String why, Throwable cause) {
    this(where, why, false, cause);
  }

  /**
   * A failed statement.
   *
   * @param refused whether the database is well and refuses what was asked
   */
  StoreProblem(String where, String why, boolean refused, Throwable cause) {
    super(where + ": " + why, cause);
    this.refused = refused;
  }

  /**
   * Whether the database is well and refuses what was asked: the same would fail again. Otherwise
   * it is away, full or broken, which says nothing about what was asked.
   */
  public boolean refused() {
    return refused;
  }
}
