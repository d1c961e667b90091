package dev.kbx.program;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/** A variable, attribute or expression: everything it may stand for, in the order of discovery. */
final class Cell {
  /** Whatever may be more things than this counts as unknown as well, and gets no more. */
  static final int MAX_VALUES = 32;

  final Set<Value> values = new LinkedHashSet<>(4);

  /** To be told every value, once each. */
  final List<Consumer<Value>> watchers = new ArrayList<>(2);

  /** A cell that holds one value. */
  static Cell of(Value value) {
    Cell cell = new Cell();
    cell.values.add(value);
    return cell;
  }

  boolean full() {
    return values.size() >= MAX_VALUES;
  }
}
