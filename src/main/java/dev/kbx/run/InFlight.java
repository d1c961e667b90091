package dev.kbx.run;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;

/**
 * Of equal candidates the first leads: it is judged, and the others wait for its verdict. Safe for
 * several threads.
 */
final class InFlight<T> {
  private final Map<String, Party<T>> parties = new HashMap<>();

  /** The leader and, until they have a verdict, all in the order of their coming. */
  private record Party<T>(T leader, Queue<T> waiting) {}

  /**
   * Whether {@code one} leads those with this key, also when it comes again because its device was
   * lost; otherwise it waits from now on.
   */
  synchronized boolean leads(String key, T one) {
    Party<T> party = parties.get(key);
    if (party != null && party.leader().equals(one)) return true;
    boolean first = party == null;
    if (party == null) {
      party = new Party<>(one, new ArrayDeque<>());
      parties.put(key, party);
    }
    party.waiting().add(one);
    return first;
  }

  /** For the leader: the next without a verdict, until {@link #judged}; at the end nobody leads. */
  synchronized Optional<T> next(String key) {
    Party<T> party = parties.get(key);
    T next = party == null ? null : party.waiting().peek();
    if (next == null) parties.remove(key);
    return Optional.ofNullable(next);
  }

  /** The next has its verdict. */
  synchronized void judged(String key) {
    Party<T> party = parties.get(key);
    if (party != null) party.waiting().remove();
  }
}
