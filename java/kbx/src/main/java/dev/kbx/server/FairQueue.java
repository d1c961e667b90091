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
  private final TreeMap<Integer, LinkedHashMap<String, Line>> levels =
      new TreeMap<>(Comparator.reverseOrder());

  private final Counts clients = new Counts();
  private final Counts runs = new Counts();
  private int size;

  /** Those of one client with one priority; their numbers ascend. */
  private static final class Line {
    final Deque<Waiting> waiting = new ArrayDeque<>();

    void addLast(Waiting added) {
      added.number(waiting.isEmpty() ? 0 : waiting.getLast().number() + 1);
      waiting.addLast(added);
    }

    void addFirst(Waiting added) {
      added.number(waiting.isEmpty() ? 0 : waiting.getFirst().number() - 1);
      waiting.addFirst(added);
    }

    /** How many are before it, or were and have been cancelled. */
    int place(Waiting one) {
      return waiting.isEmpty() ? 0 : (int) Math.max(0, one.number() - waiting.getFirst().number());
    }
  }

  int size() {
    return size;
  }

  int size(String client) {
    return clients.of(client);
  }

  int sizeOfRun(String run) {
    return runs.of(run);
  }

  Map<String, Integer> sizes() {
    return clients.all();
  }

  void add(Waiting waiting) {
    line(waiting).addLast(waiting);
    count(waiting, 1);
  }

  /** Puts one back to where it was taken from. */
  void putBack(Waiting waiting) {
    line(waiting).addFirst(waiting);
    count(waiting, 1);
  }

  private Line line(Waiting waiting) {
    return levels
        .computeIfAbsent(waiting.submission().priority(), _ -> new LinkedHashMap<>())
        .computeIfAbsent(waiting.submission().client(), _ -> new Line());
  }

  /** The next one; null if there is none. */
  @Nullable Waiting poll() {
    if (levels.isEmpty()) return null;
    var level = levels.firstEntry();
    var turns = level.getValue();
    var turn = turns.entrySet().iterator().next();
    Waiting next = turn.getValue().waiting.removeFirst();
    turns.remove(turn.getKey());
    if (!turn.getValue().waiting.isEmpty()) turns.put(turn.getKey(), turn.getValue());
    if (turns.isEmpty()) levels.remove(level.getKey());
    count(next, -1);
    return next;
  }

  /** Takes out one; false if it is not there. */
  boolean remove(Waiting waiting) {
    Line line = lineOf(waiting);
    if (line == null || !line.waiting.remove(waiting)) return false;
    dropEmpty();
    count(waiting, -1);
    return true;
  }

  private @Nullable Line lineOf(Waiting waiting) {
    var level = levels.get(waiting.submission().priority());
    return level == null ? null : level.get(waiting.submission().client());
  }

  private void dropEmpty() {
    levels.values().forEach(turns -> turns.values().removeIf(line -> line.waiting.isEmpty()));
    levels.values().removeIf(Map::isEmpty);
  }

  /** Takes out all that match. */
  List<Waiting> removeAll(Predicate<Waiting> which) {
    List<Waiting> removed = new ArrayList<>();
    for (var turns : levels.values()) {
      for (Line line : turns.values()) {
        line.waiting.removeIf(each -> which.test(each) && removed.add(each));
      }
    }
    if (!removed.isEmpty()) dropEmpty();
    removed.forEach(each -> count(each, -1));
    return removed;
  }

  /**
   * How many are judged before it if nothing is added; exact but for changing turns and for
   * cancelled ones.
   */
  int ahead(Waiting waiting) {
    Line own = lineOf(waiting);
    int place = own == null ? 0 : own.place(waiting);
    int ahead = 0;
    for (var level : levels.entrySet()) {
      if (level.getKey() < waiting.submission().priority()) break;
      boolean above = level.getKey() > waiting.submission().priority();
      for (Line line : level.getValue().values()) {
        ahead += above ? line.waiting.size() : Math.min(line.waiting.size(), place);
      }
    }
    return ahead;
  }

  /** Seconds that the oldest has waited; 0 if none waits. */
  double oldestSeconds() {
    double oldest = 0;
    for (var turns : levels.values()) {
      for (Line line : turns.values()) {
        oldest = Math.max(oldest, line.waiting.getFirst().seconds());
      }
    }
    return oldest;
  }

  private void count(Waiting waiting, int change) {
    size += change;
    clients.add(waiting.submission().client(), change);
    runs.add(waiting.submission().run(), change);
  }
}
