package dev.kbx.server;

import java.util.BitSet;
import java.util.List;
import java.util.regex.Pattern;

/**
 * Positions that a stream of events has sent: {@code 17} are all up to 17, {@code 17-3,5} the same
 * without 3 and 5.
 */
final class Sent {
  private static final Pattern ID = Pattern.compile("\\d{1,8}(-\\d{1,8}(,\\d{1,8})*)?");

  private final BitSet positions = new BitSet();

  static Sent parse(String id) {
    Sent sent = new Sent();
    if (id.isEmpty()) return sent;
    if (!ID.matcher(id).matches()) {
      throw Refusal.of(400, "Last-Event-ID: is no id of an event of this stream");
    }
    String[] parts = id.split("[-,]", -1);
    sent.positions.set(0, Integer.parseInt(parts[0]) + 1);
    for (int i = 1; i < parts.length; i++) sent.positions.clear(Integer.parseInt(parts[i]));
    return sent;
  }

  void add(int position) {
    positions.set(position);
  }

  /** Another verdict is there now. */
  void remove(int position) {
    positions.clear(position);
  }

  /** The first position that was not sent. */
  int firstMissing() {
    return positions.nextClearBit(0);
  }

  int count() {
    return positions.cardinality();
  }

  List<Integer> missing(List<Integer> all) {
    return all.stream().filter(position -> !positions.get(position)).toList();
  }

  @Override
  public String toString() {
    if (positions.isEmpty()) return "";
    int last = positions.length() - 1;
    StringBuilder id = new StringBuilder().append(last);
    char separator = '-';
    for (int i = positions.nextClearBit(0); i < last; i = positions.nextClearBit(i + 1)) {
      id.append(separator).append(i);
      separator = ',';
    }
    return id.toString();
  }
}
