package dev.kbx.prompt;

import java.util.Locale;

/** What a model is told about its earlier kernels. */
public enum FeedbackKind {
  /** Nothing. */
  NONE,
  /** The outcome, what was wrong, and the times. */
  EXECUTION,
  /**
   * The same with the share of the device's peaks, what bounds the kernel, its resources, Nsight
   * Compute's figures, and an example of what helps against that bound.
   */
  PROFILE;

  /** The name used in options and files, in lower case. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
