package dev.kbx.plan;

import java.util.Arrays;
import java.util.Optional;

/** State of the L2 cache when a timed call begins. */
public enum L2State {
  /** Flushed, as after other work: what a kernel in a model finds. */
  COLD("cold"),
  /** Holds the call's arguments, as far as they fit. */
  WARM("warm");

  private final String label;

  L2State(String label) {
    this.label = label;
  }

  /** The name that options use. */
  public String label() {
    return label;
  }

  /** The state with that label. */
  public static Optional<L2State> of(String label) {
    return Arrays.stream(values()).filter(c -> c.label.equals(label)).findFirst();
  }
}
