package dev.kbx.cluster;

import static java.util.Objects.requireNonNull;

import dev.kbx.error.EnvironmentException;
import java.util.concurrent.ExecutionException;

/** The cluster cannot be used, or is lost. The message is one line that a user can act on. */
final class ClusterProblem extends EnvironmentException {
  private static final long serialVersionUID = 1;

  ClusterProblem(String message) {
    super(message);
  }

  ClusterProblem(String message, Throwable cause) {
    super(message, cause);
  }

  /** The problem that a future ended with. */
  static ClusterProblem of(ExecutionException e) {
    return new ClusterProblem(String.valueOf(requireNonNull(e.getCause()).getMessage()), e);
  }
}
