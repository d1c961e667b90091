package dev.kbx.cli;

import java.io.IOException;

/**
 * An error that the user can correct: one line that says what, where, and what to do. Exit code 1,
 * unless its cause is trouble of this machine.
 */
final class UserError extends RuntimeException {
  private static final long serialVersionUID = 1;

  UserError(String message) {
    super(message);
  }

  /**
   * An error because of a file.
   *
   * @param cause decides the exit code: nobody corrects a full disk by another option
   */
  UserError(String message, IOException cause) {
    super(message, cause);
  }
}
