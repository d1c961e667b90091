package dev.kbx.plan;

import java.util.Arrays;
import java.util.Optional;

/** How results are compared with the reference's. */
public enum Tolerance {
  /** By the reference's own rounding error on the same inputs, as each task's contract defines. */
  MODEL("model"),
  /** By the constants that the suite's authors publish. */
  PUBLISHED("published");

  /** Flag of a verdict by {@link #PUBLISHED}. */
  public static final String FLAG = "published_tolerance";

  private final String label;

  Tolerance(String label) {
    this.label = label;
  }

  /** The name that options use. */
  public String label() {
    return label;
  }

  /** The tolerance with that label. */
  public static Optional<Tolerance> of(String label) {
    return Arrays.stream(values()).filter(t -> t.label.equals(label)).findFirst();
  }
}
