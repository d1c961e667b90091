package dev.kbx.cli;

/**
 * An error that the user can correct: one line that says what, where, and what to do. Exit code 1.
 */
final class UserError extends RuntimeException {
  private static final long serialVersionUID = 1;

  UserError(String message) {
    super(message);
  }
}
