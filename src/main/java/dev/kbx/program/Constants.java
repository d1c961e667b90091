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

  /** Characters and elements of a list that anybody asks for. */
  private static final int MAX_LIST = 1 << 12;

  private Constants() {}

  /** A String, Long, Double, Boolean or a short List of those; null for everything else. */
  static @Nullable Object of(Value value) {
    boolean single = value instanceof Constant(Object known) && !(known instanceof List<?>);
    Object raw = raw(value, new Budget(single ? Integer.MAX_VALUE : MAX_LIST));
    return raw == null || raw.equals(PENDING) ? null : shown(raw, MAX_DEPTH);
  }

  private static Object shown(Object raw, int depth) {
    if (raw instanceof Bytes(String latin1)) return latin1;
    if (!(raw instanceof List<?> list) || depth == 0) return raw;
    List<Object> items = new ArrayList<>();
    for (Object each : list) items.add(shown(each, depth - 1));
    return items;
  }

  /**
   * As {@link #of}, but of any length and with {@link Bytes} as they are; {@link #PENDING} while
   * incomplete. Null where the budget does not suffice for it: lists that share elements are as
   * large as if they shared none.
   */
  static @Nullable Object raw(Value value, Budget budget) {
    return raw(value, MAX_DEPTH, budget);
  }

  private static @Nullable Object raw(Value value, int depth, Budget budget) {
    if (value instanceof Constant(Object known)) return budget.take(known) ? known : null;
    if (!(value instanceof Box box) || depth == 0 || !budget.take(1)) return null;
    if (box.changed || !box.entries.isEmpty() || box.open) return null;
    List<Object> items = new ArrayList<>();
    for (Cell cell : box.items) {
      if (cell.values.isEmpty()) return PENDING;
      if (cell.values.size() != 1) return null;
      Object item = raw(cell.values.iterator().next(), depth - 1, budget);
      if (item == null || item.equals(PENDING)) return item;
      items.add(item);
    }
    return items;
  }
}
