package dev.kbx.program;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/** A variable, attribute or expression: everything it may stand for, in the order of discovery. */
final class ValueSet {
  /** Whatever may be more things than this counts as unknown as well, and gets no more. */
  static final int MAX_VALUES = 32;

  final Set<AbstractValue> values = new LinkedHashSet<>(4);

  /** To be told every value, once each. */
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
