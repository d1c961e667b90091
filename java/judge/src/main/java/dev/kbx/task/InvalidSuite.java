package dev.kbx.task;

import dev.kbx.error.InputException;

/** A suite that cannot be opened. The message is one line: what, where, what to do. */
public final class InvalidSuite extends InputException {
  private static final long serialVersionUID = 1;

  InvalidSuite(String message) {
    super(message);
  }
}
