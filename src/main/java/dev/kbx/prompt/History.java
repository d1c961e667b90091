package dev.kbx.prompt;

import java.util.Locale;

/** Which of its earlier kernels a model is shown. */
public enum History {
  LAST,
  WHOLE;

  /** The name used in options and files, in lower case. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
