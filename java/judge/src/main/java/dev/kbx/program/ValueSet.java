package dev.kbx.program;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/** The values that a variable, attribute or expression may have, in order of discovery. */
final class ValueSet {
  /** A full set gets {@link AbstractValue#UNKNOWN} and no further values. */
  static final int MAX_VALUES = 32;

  final Set<AbstractValue> values = new LinkedHashSet<>(4);

  /** Called once for every value. */
  final List<Consumer<AbstractValue>> watchers = new ArrayList<>(2);

  /** A set that holds one value. */
  static ValueSet of(AbstractValue value) {
    ValueSet set = new ValueSet();
    set.values.add(value);
    return set;
  }

  boolean full() {
    return values.size() >= MAX_VALUES;
  }
}
