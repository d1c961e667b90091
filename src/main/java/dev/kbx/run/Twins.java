package dev.kbx.run;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;

/**
 * Who waits for a verdict that another slot is about to give: of equal candidates the first leads
 * and the others follow. Safe for several threads.
 */
final class Twins<T> {
  private final Map<String, Queue<T>> led = new HashMap<>();

  /** Whether nobody with this key is being judged; otherwise {@code follower} waits from now on. */
  synchronized boolean leads(String key, T follower) {
    Queue<T> waiting = led.get(key);
    if (waiting != null) return !waiting.add(follower);
    led.put(key, new ArrayDeque<>());
    return true;
  }

  /** The next who waited for the leader of this key, who no longer leads when there is none. */
  synchronized Optional<T> next(String key) {
    Queue<T> waiting = led.getOrDefault(key, new ArrayDeque<>());
    if (waiting.isEmpty()) led.remove(key);
    return Optional.ofNullable(waiting.poll());
  }
}
