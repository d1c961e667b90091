package dev.kbx.task;

import java.util.Arrays;
import java.util.Optional;

/** How much of a result others than the candidate's own kernels may compute. */
public enum Policy {
  /** Next to nothing: they finish off small partial results at most. */
  KERNEL("kernel"),
  /** Anything, as long as a kernel of the candidate computes some of it. The share is reported. */
  MIXED("mixed"),
  /**
   * Anybody may compute all of the work: for references that kbx itself measures. No option asks
   * for it.
   */
  ANY("any");

  /** Tag of tasks whose candidates are references. */
  public static final String ANY_TAG = "by-anybody";

  private final String label;

  Policy(String label) {
    this.label = label;
  }

  /** The name used in options, files and pages. */
  public String label() {
    return label;
  }

  /** The one of that label, if users may ask for it. */
  public static Optional<Policy> of(String label) {
    return Arrays.stream(values())
        .filter(policy -> policy != ANY && policy.label.equals(label))
        .findFirst();
  }

  /**
   * The policy of a task unless another is asked for: {@code mixed} for modules, imported tasks and
   * definitions, whose authors never asked who computes.
   */
  public static Policy usual(Task task) {
    if (task.tags().contains(ANY_TAG)) return ANY;
    return task.isModule() || task.isImported() || task.isDefinition() ? MIXED : KERNEL;
  }

  /** What to do instead, as the end of a message. */
  public String advice(Task task) {
    return switch (this) {
      case KERNEL ->
          "compute the result in %s of this file; PyTorch may allocate, view, copy, cast and finish off small partial results"
              .formatted(kernels(task));
      case MIXED ->
          "compute a part of the result in %s of this file; PyTorch may compute the rest"
              .formatted(kernels(task));
      case ANY -> "";
    };
  }

  private static String kernels(Task task) {
    return task.takesCpp()
        ? "kernels (Triton, inline CUDA C++ by `load_inline`; TileLang or the CuTe DSL where the"
            + " judging machine has it)"
        : "Triton kernels";
  }
}
