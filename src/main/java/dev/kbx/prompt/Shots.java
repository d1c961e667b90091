package dev.kbx.prompt;

import java.util.Locale;

/** How many kernels of other tasks a prompt shows. */
public enum Shots {
  ZERO,
  ONE,
  /** Three, or as many as there are for the language. */
  FEW;

  /** The name used in options and files, in lower case. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
