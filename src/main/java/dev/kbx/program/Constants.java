package dev.kbx.program;

import dev.kbx.program.Value.Box;
import dev.kbx.program.Value.Constant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Values that are known exactly. */
final class Constants {
  /** Stands for a list whose elements have not all been found yet. */
  static final Object PENDING = new Object();

  /** Elements of a list that anybody asks for. */
  static final int MAX_ELEMENTS = 64;

  private Constants() {}

  /**
   * A String, Long, Double or Boolean, or a List of those; {@link #PENDING} while a list is
   * incomplete; null for everything else.
   */
  static @Nullable Object of(Value value) {
    return switch (value) {
      case Constant(Object known) -> known;
      case Box box -> list(box);
      default -> null;
    };
  }

  private static @Nullable Object list(Box box) {
    if (box.changed || box.open || !box.entries.isEmpty()) return null;
    if (box.items.size() > MAX_ELEMENTS) return null;
    List<Object> items = new ArrayList<>();
    for (Cell cell : box.items) {
      if (cell.values.isEmpty()) return PENDING;
      if (cell.values.size() > 1) return null;
      if (!(cell.values.iterator().next() instanceof Constant(Object known))) return null;
      items.add(known);
    }
    return items;
  }
}
