package dev.kbx.verdict;

import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Locale;

/** The stages a candidate goes through, in order; the first that fails decides. */
public enum Stage {
  STATIC,
  COMPILE,
  CALL,
  CORRECT,
  PERF;

  /** The name used in files, on the command line and in pages: {@code static, compile, …}. */
  @JsonValue
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
