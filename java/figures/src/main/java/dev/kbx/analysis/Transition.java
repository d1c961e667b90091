package dev.kbx.analysis;

import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Locale;

/** Change in the outcome of a task or candidate from one run to the next. */
public enum Transition {
  /** Wrong, then right. */
  RESCUED,
  /** Right, then wrong. */
  REGRESSED,
  /** Right, then right. */
  PERSISTENT,
  /** Wrong, then wrong. */
  UNRESOLVED;

  static Transition of(boolean rightThen, boolean rightNow) {
    if (rightThen) return rightNow ? PERSISTENT : REGRESSED;
    return rightNow ? RESCUED : UNRESOLVED;
  }

  /** As in files and on terminals: {@code rescued, …}. */
  @JsonValue
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
