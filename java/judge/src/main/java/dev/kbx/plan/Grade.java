package dev.kbx.plan;

import java.util.Arrays;
import java.util.Optional;

/** Which calls of a task decide that a candidate is correct. Both kinds are made in any case. */
public enum Grade {
  /** The calls that ask for no more than the published tests of the task do. */
  PUBLISHED("published"),
  /** All: whatever the operation accepts in PyTorch. */
  GENERAL("general");

  private final String label;

  Grade(String label) {
    this.label = label;
  }

  /** The name used in options, files and pages. */
  public String label() {
    return label;
  }

  /** The one of that label. */
  public static Optional<Grade> of(String label) {
    return Arrays.stream(values()).filter(grade -> grade.label.equals(label)).findFirst();
  }
}
