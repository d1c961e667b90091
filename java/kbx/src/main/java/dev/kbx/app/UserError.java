package dev.kbx.app;

import java.io.IOException;

/** An error that the user can correct: one line that says what, where, and what to do. */
public final class UserError extends RuntimeException {
  private static final long serialVersionUID = 1;

  public UserError(String message) {
    super(message);
  }

  /**
   * An error because of a file.
   *
   * @param cause decides the exit code: nobody corrects a full disk by another option
   */
  public UserError(String message, IOException cause) {
    super(message, cause);
  }
}
