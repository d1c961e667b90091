package dev.kbx.program;

import dev.kbx.program.Value.Box;
import dev.kbx.program.Value.Bytes;
import dev.kbx.program.Value.Constant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Values that are known to the last bit. */
final class Constants {
  /** Stands for a container whose elements have not all arrived. */
  static final Object PENDING = Pending.PENDING;

  private enum Pending {
    PENDING
  }

  private static final int MAX_DEPTH = 8;

  private Constants() {}

  /** A String, Long, Double, Boolean or a List of those; null for everything else. */
  static @Nullable Object of(Value value) {
    Object raw = raw(value);
    return raw == null || raw.equals(PENDING) ? null : shown(raw, MAX_DEPTH);
  }

  private static Object shown(Object raw, int depth) {
    if (raw instanceof Bytes(String latin1)) return latin1;
    if (!(raw instanceof List<?> list) || depth == 0) return raw;
    List<Object> items = new ArrayList<>();
    for (Object each : list) items.add(shown(each, depth - 1));
    return items;
  }

  /** As {@link #of}, but with {@link Bytes} as they are; {@link #PENDING} while incomplete. */
  static @Nullable Object raw(Value value) {
    return raw(value, MAX_DEPTH);
  }

  private static @Nullable Object raw(Value value, int depth) {
    if (value instanceof Constant(Object known)) return known;
    if (!(value instanceof Box box) || depth == 0) return null;
    if (box.changed || !box.entries.isEmpty() || box.open) return null;
    List<Object> items = new ArrayList<>();
    for (Cell cell : box.items) {
      if (cell.values.isEmpty()) return PENDING;
      if (cell.values.size() != 1) return null;
      Object item = raw(cell.values.iterator().next(), depth - 1);
      if (item == null || item.equals(PENDING)) return item;
      items.add(item);
    }
    return items;
  }
}
