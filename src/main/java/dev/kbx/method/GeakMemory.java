package dev.kbx.method;

import dev.kbx.method.History.Outcome;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** What one round of {@link Geak} leaves to the next. */
final class GeakMemory {
  /** Kernels in the pool, and attempts shown of a history. */
  private static final int KEPT = 5;

  /** Rounds of mending before descendants start anew. */
  private static final int MENDING = 5;

  private final boolean asPublished;

  /** The slowest first. */
  private final List<Reflected> pool = new ArrayList<>();

  /** Each descendant's attempts, oldest first. */
  private final List<List<Reflected>> histories = new ArrayList<>();

  /** Each descendant's kernel, if it has one. */
  private final List<Optional<Outcome>> current;

  private int mended;

  /**
   * A judged kernel.
   *
   * @param note what a reflection said of it
   * @param score a model's score of it
   */
  record Reflected(Outcome kernel, String note, double score) {}

  GeakMemory(int descendants, boolean asPublished) {
    this.asPublished = asPublished;
    this.current = new ArrayList<>(Collections.nCopies(descendants, Optional.empty()));
    for (int i = 0; i < descendants; i++) histories.add(new ArrayList<>());
  }

  /** Begins a round; whether descendants start anew. */
  boolean begin() {
    boolean anew = mended >= MENDING || !isMending();
    mended = anew ? 0 : mended + 1;
    if (!anew) return false;
    Collections.fill(current, Optional.empty());
    if (!asPublished) histories.forEach(List::clear);
    return true;
  }

  /** Whether there are kernels, all of them failing. */
  private boolean isMending() {
    List<Outcome> kernels = current.stream().flatMap(Optional::stream).toList();
    return !kernels.isEmpty() && kernels.stream().noneMatch(Selections::isCorrect);
  }

  /**
   * Ends a round.
   *
   * @param made by descendant; empty if it has no kernel
   */
  void end(List<Optional<Reflected>> made) {
    for (int i = 0; i < made.size(); i++) {
      if (made.get(i).isEmpty()) continue;
      Reflected one = made.get(i).get();
      current.set(i, Optional.of(one.kernel));
      histories.get(i).add(one);
      if (Selections.isCorrect(one.kernel)) insert(one);
    }
  }

  private void insert(Reflected one) {
    if (pool.size() == KEPT) {
      Reflected beaten = asPublished ? pool.getLast() : pool.getFirst();
      if (speed(one) <= speed(beaten)) return;
      pool.remove(beaten);
    }
    pool.add(one);
    pool.sort(Comparator.comparingDouble(this::speed));
  }

  private double speed(Reflected one) {
    return asPublished
        ? Selections.value(one.kernel.judgement())
        : Selections.low(one.kernel.judgement());
  }

  /** A descendant's kernel of an earlier round, if it was not started anew since. */
  Optional<Outcome> current(int descendant) {
    return current.get(descendant);
  }

  /** The pool as prompts show it. */
  List<Reflected> pool() {
    return asPublished ? pool.reversed() : List.copyOf(pool);
  }

  /** A descendant's history as prompts show it. */
  List<Reflected> history(int descendant) {
    List<Reflected> all = histories.get(descendant);
    if (!asPublished) return Asks.latest(all, KEPT);
    return all.stream()
        .sorted(Comparator.comparingDouble(Reflected::score).reversed())
        .limit(KEPT)
        .toList();
  }
}
