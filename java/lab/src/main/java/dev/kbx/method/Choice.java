package dev.kbx.method;

import dev.kbx.method.Next.Answer;
import java.util.Locale;

/** Which kernel of a trajectory counts. */
enum Choice {
  /** The correct kernel with the highest lower bound of its speedup. */
  BEST,
  /** The last. */
  LAST,
  /** The first that was found to be correct. */
  FIRST;

  static Choice of(String label) {
    return valueOf(label.toUpperCase(Locale.ROOT));
  }

  String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  Answer of(History history) {
    return switch (this) {
      case BEST -> Selections.best(history);
      case LAST -> Selections.last(history);
      case FIRST -> Selections.first(history);
    };
  }
}
