package dev.kbx.task;

/** A suite that cannot be opened. The message is one line: what, where, what to do. */
public final class InvalidSuite extends RuntimeException {
  private static final long serialVersionUID = 1;

  InvalidSuite(String message) {
    super(message);
  }
}
