package dev.kbx.cluster;

/** The cluster cannot be used, or is lost. The message is one line that a user can act on. */
public final class ClusterProblem extends RuntimeException {
  private static final long serialVersionUID = 1;

  ClusterProblem(String message) {
    super(message);
  }

  ClusterProblem(String message, Throwable cause) {
    super(message, cause);
  }
}
