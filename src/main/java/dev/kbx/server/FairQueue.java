package dev.kbx.server;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Candidates in the order in which they are judged: by priority, then one of each client in turn,
 * then by age. Not safe for several threads.
 */
final class FairQueue {
  /** By priority, highest first; in it by client, whose turn it is first. */
  private final TreeMap<Integer, LinkedHashMap<String, Deque<Waiting>>> levels =
      new TreeMap<>(Comparator.reverseOrder());

  private final Map<String, Integer> sizes = new LinkedHashMap<>();
  private int size;

  int size() {
    return size;
  }

  int size(String client) {
    return sizes.getOrDefault(client, 0);
  }

  Map<String, Integer> sizes() {
    return Map.copyOf(sizes);
  }

  void add(Waiting waiting) {
    deque(waiting).addLast(waiting);
    count(waiting, 1);
  }

  /** Puts one back to where it was taken from. */
  void putBack(Waiting waiting) {
    deque(waiting).addFirst(waiting);
    count(waiting, 1);
  }

  private Deque<Waiting> deque(Waiting waiting) {
    return levels
        .computeIfAbsent(waiting.submission().priority(), _ -> new LinkedHashMap<>())
        .computeIfAbsent(waiting.submission().client(), _ -> new ArrayDeque<>());
  }

  /** The next one; null if there is none. */
  @Nullable Waiting poll() {
    if (levels.isEmpty()) return null;
    var level = levels.firstEntry();
    var clients = level.getValue();
    var turn = clients.entrySet().iterator().next();
    Waiting next = turn.getValue().removeFirst();
    clients.remove(turn.getKey());
    if (!turn.getValue().isEmpty()) clients.put(turn.getKey(), turn.getValue());
    if (clients.isEmpty()) levels.remove(level.getKey());
    count(next, -1);
    return next;
  }

  /** Takes out one; false if it is not there. */
  boolean remove(Waiting waiting) {
    return !removeAll(each -> each == waiting).isEmpty();
  }

  /** Takes out all that match. */
  List<Waiting> removeAll(Predicate<Waiting> which) {
    List<Waiting> removed = new ArrayList<>();
    levels
        .values()
        .forEach(clients ->
            clients
                .values()
                .forEach(deque -> deque.removeIf(each -> which.test(each) && removed.add(each))));
    levels.values().forEach(clients -> clients.values().removeIf(Deque::isEmpty));
    levels.values().removeIf(Map::isEmpty);
    removed.forEach(each -> count(each, -1));
    return removed;
  }

  /** How many are judged before it if nothing is added; exact but for changing turns. */
  int ahead(Waiting waiting) {
    int ahead = 0;
    for (var level : levels.entrySet()) {
      if (level.getKey() > waiting.submission().priority()) {
        for (Deque<Waiting> deque : level.getValue().values()) ahead += deque.size();
      } else if (level.getKey() == waiting.submission().priority()) {
        int place = place(level.getValue().get(waiting.submission().client()), waiting);
        for (Deque<Waiting> deque : level.getValue().values()) {
          ahead += Math.min(deque.size(), place);
        }
      }
    }
    return ahead;
  }

  private static int place(@Nullable Deque<Waiting> deque, Waiting waiting) {
    int place = 0;
    if (deque == null) return place;
    for (Waiting each : deque) {
      if (each == waiting) return place;
      place++;
    }
    return place;
  }

  private void count(Waiting waiting, int change) {
    size += change;
    sizes.merge(waiting.submission().client(), change, Integer::sum);
    sizes.values().removeIf(count -> count == 0);
  }
}
