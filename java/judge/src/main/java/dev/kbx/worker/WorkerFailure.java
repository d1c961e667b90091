package dev.kbx.worker;

import dev.kbx.error.EnvironmentException;

/**
 * A trusted process failed or could not be started: the fault of kbx or this machine, never of a
 * candidate.
 *
 * <p>The message is one line that a user can act on.
 */
public final class WorkerFailure extends EnvironmentException {
  private static final long serialVersionUID = 1;

  public WorkerFailure(String message) {
    super(message);
  }

  public WorkerFailure(String message, Throwable cause) {
    super(message, cause);
  }
}
