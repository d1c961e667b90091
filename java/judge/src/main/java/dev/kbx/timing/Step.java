package dev.kbx.timing;

import dev.kbx.outcome.Outcome;

/** The result of a measuring phase: the next phase, or an outcome. */
sealed interface Step<T> {
  record To<T>(T next) implements Step<T> {}

  record Ended<T>(Outcome outcome) implements Step<T> {}

  static <T> Step<T> to(T next) {
    return new To<>(next);
  }

  static <T> Step<T> ended(Outcome outcome) {
    return new Ended<>(outcome);
  }
}
