package dev.kbx.task;

/** A selection that matches no task. The message is one line and names close matches. */
public final class UnknownTask extends RuntimeException {
  private static final long serialVersionUID = 1;

  UnknownTask(String message) {
    super(message);
  }
}
