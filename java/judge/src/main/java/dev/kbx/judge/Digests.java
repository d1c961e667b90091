package dev.kbx.judge;

import dev.kbx.worker.OracleMessage.PlannedCall;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The bits of results, as hashes: equal calls of a repeatable kernel have one. */
final class Digests {
  private record Seen(PlannedCall call, Set<String> hashes) {}

  private final Map<Integer, Seen> byInputs = new LinkedHashMap<>();

  void add(PlannedCall call, String hash) {
    byInputs
        .computeIfAbsent(call.inputs(), _ -> new Seen(call, new LinkedHashSet<>()))
        .hashes
        .add(hash);
  }

  boolean isEmpty() {
    return byInputs.isEmpty();
  }

  /** Whether the call was made, so that it can be made once more. */
  boolean knows(PlannedCall call) {
    return byInputs.containsKey(call.inputs());
  }

  /** A call of which there are several results; empty if there is none. */
  Optional<PlannedCall> varying() {
    return byInputs.values().stream()
        .filter(seen -> seen.hashes.size() > 1)
        .map(Seen::call)
        .findFirst();
  }
}
