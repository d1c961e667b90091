package dev.kbx.cluster;

import java.util.OptionalInt;

/**
 * How many slots a run has work for: those on which all its open jobs would be judged at once. Not
 * safe for threads.
 */
final class Demand {
  private final OptionalInt most;
  private int each = 1;

  /**
   * @param most that the user allows; empty if the cluster is taken as it is
   */
  Demand(OptionalInt most) {
    this.most = most;
  }

  /** Whether the cluster is to follow the demand. */
  boolean counts() {
    return most.isPresent();
  }

  /**
   * The number of slots; one as long as none has ever been up, for the command waits for it.
   *
   * @param begun whether one has been up
   */
  int slots(boolean begun, Assignments assignments) {
    if (!begun) return 1;
    if (assignments.slots() > 0) each = Math.max(1, assignments.capacity() / assignments.slots());
    return Math.min(most.orElseThrow(), Math.ceilDiv(assignments.open(), each));
  }
}
