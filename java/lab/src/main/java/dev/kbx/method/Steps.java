package dev.kbx.method;

import dev.kbx.method.History.Outcome;
import dev.kbx.method.Next.Ask;
import dev.kbx.method.Next.Trial;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/** Collects the open steps of a method while it walks through its history. */
final class Steps {
  private final History history;
  private final List<Ask> asks = new ArrayList<>();
  private final List<Trial> trials = new ArrayList<>();

  Steps(History history) {
    this.history = history;
  }

  /** A kernel with what the referee found, or that there is none; empty while a step is open. */
  Optional<Outcome> kernel(String id, Supplier<Ask> ask) {
    Optional<Outcome> known = history.of(id);
    if (known.isPresent() && known.get().settled()) return known;
    if (known.isPresent() && known.get().code() != null) {
      trials.add(new Trial(id, known.get().code()));
    } else {
      asks.add(ask.get());
    }
    return Optional.empty();
  }

  /** A reply that is no kernel, or that there is none; empty while it is awaited. */
  Optional<Outcome> text(String id, Supplier<Ask> ask) {
    Optional<Outcome> known = history.of(id);
    if (known.isPresent() && known.get().answered()) return known;
    asks.add(ask.get());
    return Optional.empty();
  }

  /** Whether something is open. */
  boolean areOpen() {
    return !asks.isEmpty() || !trials.isEmpty();
  }

  Next.Work work() {
    return new Next.Work(asks, trials);
  }
}
