package dev.kbx.task;

import dev.kbx.error.InputException;

/** A selection that matches no task. The message is one line and names close matches. */
public final class UnknownTask extends InputException {
  private static final long serialVersionUID = 1;

  UnknownTask(String message) {
    super(message);
  }
}
