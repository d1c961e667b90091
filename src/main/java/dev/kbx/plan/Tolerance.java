package dev.kbx.plan;

import java.util.Arrays;
import java.util.Optional;

/** How near a result must be to the reference's. */
public enum Tolerance {
  /** By the reference's own error on the very inputs, as each task's contract says. */
  MODEL("model"),
  /** By the constants that the authors of the suite publish. */
  PUBLISHED("published");

  /** What a verdict by {@link #PUBLISHED} tells. */
  public static final String FLAG = "published_tolerance";

  private final String label;

  Tolerance(String label) {
    this.label = label;
  }

  /** The name that options use. */
  public String label() {
    return label;
  }

  /** The one of that label. */
  public static Optional<Tolerance> of(String label) {
    return Arrays.stream(values()).filter(t -> t.label.equals(label)).findFirst();
  }
}
