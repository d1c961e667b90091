package dev.kbx.plan;

import java.util.Arrays;
import java.util.Optional;

/** What is in the L2 cache when a timed call begins. */
public enum L2State {
  /** Nothing of its arguments: as after other work, which is what a kernel in a model meets. */
  COLD("cold"),
  /** Its arguments, as far as they fit. */
  WARM("warm");

  private final String label;

  L2State(String label) {
    this.label = label;
  }

  /** The name that options use. */
  public String label() {
    return label;
  }

  /** The one of that label. */
  public static Optional<L2State> of(String label) {
    return Arrays.stream(values()).filter(c -> c.label.equals(label)).findFirst();
  }
}
