package dev.kbx.server;

import java.util.HashMap;
import java.util.Map;

/** Numbers by name; a name without any is absent. Not safe for several threads. */
final class Counts {
  private final Map<String, Integer> counts = new HashMap<>();

  void add(String name, int change) {
    counts.merge(name, change, (old, more) -> old + more == 0 ? null : (Integer) (old + more));
  }

  int of(String name) {
    return counts.getOrDefault(name, 0);
  }

  Map<String, Integer> all() {
    return Map.copyOf(counts);
  }
}
