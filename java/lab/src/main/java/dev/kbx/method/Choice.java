package dev.kbx.method;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import dev.kbx.method.Next.Answer;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/** Which kernel of a trajectory counts. */
public enum Choice {
  /** Of the correct kernels the one with the highest lower bound of its speedup. */
  BEST,
  /** The last. */
  LAST,
  /** The first that was found to be correct. */
  FIRST;

  /** The one of that label. */
  public static Optional<Choice> of(String label) {
    return Arrays.stream(values()).filter(each -> each.label().equals(label)).findFirst();
  }

  @JsonCreator
  static Choice read(String label) {
    return of(label).orElseThrow(() -> new IllegalArgumentException("no answer " + label));
  }

  /** The name used in options, ledgers and conditions. */
  @JsonValue
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** The one of a history. */
  public Answer of(History history) {
    return switch (this) {
      case BEST -> Selections.best(history);
      case LAST -> Selections.last(history);
      case FIRST -> Selections.first(history);
    };
  }
}
