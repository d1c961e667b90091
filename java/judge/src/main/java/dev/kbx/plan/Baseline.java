package dev.kbx.plan;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** The baseline of a candidate's speedup: the task's reference, executed in one of several ways. */
public enum Baseline {
  /** PyTorch eager. Candidates are always timed beside it. */
  EAGER("eager"),
  /** {@code torch.compile} with its defaults. */
  COMPILE("compile"),
  /** {@code torch.compile} with {@code mode="max-autotune"}. */
  MAX_AUTOTUNE("max-autotune"),
  /** The fastest of the three for the task. */
  BEST("best");

  private final String label;

  Baseline(String label) {
    this.label = label;
  }

  /** The name that options and verdicts use. */
  public String label() {
    return label;
  }

  /** The baseline of that label. */
  public static Optional<Baseline> of(String label) {
    return Arrays.stream(values()).filter(b -> b.label.equals(label)).findFirst();
  }

  /** The baselines that must be compiled. */
  public List<Baseline> compiled() {
    return switch (this) {
      case EAGER -> List.of();
      case COMPILE, MAX_AUTOTUNE -> List.of(this);
      case BEST -> List.of(COMPILE, MAX_AUTOTUNE);
    };
  }
}
