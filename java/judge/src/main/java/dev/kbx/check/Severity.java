package dev.kbx.check;

import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Locale;

/** What a finding means for the verdict. */
public enum Severity {
  /** Ends the judgement as {@code rejected_static}. */
  REJECT,
  /** Suspicious: named among the verdict's flags; the run decides. */
  FLAG,
  /** Information for readers of the source; honest kernels have it too. */
  NOTE;

  /** {@code reject}, {@code flag}, {@code note}. */
  @JsonValue
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
