package dev.kbx.program;

import dev.kbx.program.AbstractValue.Constant;
import dev.kbx.program.AbstractValue.Container;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads constants from abstract values. */
final class Constants {
  /** A list whose elements are not all known yet. */
  static final Object PENDING = new Object();

  /** Longer lists are no constants. */
  static final int MAX_ELEMENTS = 64;

  private Constants() {}

  /**
   * A String, Long, Double or Boolean, or a List of those; {@link #PENDING} while a list is
   * incomplete; null for everything else.
   */
  static @Nullable Object of(AbstractValue value) {
    return switch (value) {
      case Constant(Object known) -> known;
      case Container container -> list(container);
      default -> null;
    };
  }

  private static @Nullable Object list(Container container) {
    if (container.changed || container.open || !container.entries.isEmpty()) return null;
    if (container.items.size() > MAX_ELEMENTS) return null;
    List<Object> items = new ArrayList<>();
    for (ValueSet set : container.items) {
      if (set.values.isEmpty()) return PENDING;
      if (set.values.size() > 1) return null;
      if (!(set.values.iterator().next() instanceof Constant(Object known))) return null;
      items.add(known);
    }
    return items;
  }
}
