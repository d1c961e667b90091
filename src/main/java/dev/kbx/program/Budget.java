package dev.kbx.program;

import dev.kbx.program.Value.Bytes;
import java.util.List;

/** Characters and elements that may still be computed with. */
final class Budget {
  /** Nested deeper, a constant is too large, however small it is. */
  private static final int MAX_DEPTH = 32;

  private int left;

  Budget(int left) {
    this.left = left;
  }

  boolean spent() {
    return left < 0;
  }

  /** Takes a number off; false, now and later, if it is not there. */
  boolean take(int size) {
    left = Math.max(left - size, -1);
    return left >= 0;
  }

  /**
   * Takes a constant off, whatever it shares with others or with itself; false if it is too large.
   */
  boolean take(Object constant) {
    return take(constant, MAX_DEPTH);
  }

  private boolean take(Object constant, int depth) {
    return switch (constant) {
      case String text -> take(1 + text.length());
      case Bytes(String latin1) -> take(1 + latin1.length());
      case List<?> list -> {
        if (depth == 0 || !take(1)) yield false;
        for (Object each : list) if (!take(each, depth - 1)) yield false;
        yield true;
      }
      default -> take(1);
    };
  }
}
