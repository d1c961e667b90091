package dev.kbx.timing;

import dev.kbx.outcome.Outcome;

/** What a phase of measuring came to: the next one, or an outcome instead. */
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
