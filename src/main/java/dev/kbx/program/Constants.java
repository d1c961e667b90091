package dev.kbx.program;

import dev.kbx.program.Value.Box;
import dev.kbx.program.Value.Bytes;
import dev.kbx.program.Value.Constant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Values that are known to the last bit. */
final class Constants {
  private static final int MAX_DEPTH = 8;

  private Constants() {}

  /** A String, Long, Double, Boolean or a List of those; null for everything else. */
  static @Nullable Object of(Value value) {
    return of(value, MAX_DEPTH);
  }

  private static @Nullable Object of(Value value, int depth) {
    if (value instanceof Constant(Object known)) {
      return known instanceof Bytes(String latin1) ? latin1 : known;
    }
    if (!(value instanceof Box box) || depth == 0 || box.changed || !box.entries.isEmpty()) {
      return null;
    }
    List<Object> items = new ArrayList<>();
    for (Cell cell : box.items) {
      if (cell.values.size() != 1) return null;
      Object item = of(cell.values.iterator().next(), depth - 1);
      if (item == null) return null;
      items.add(item);
    }
    return items;
  }
}
