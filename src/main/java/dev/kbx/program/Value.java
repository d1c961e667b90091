package dev.kbx.program;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** Something an expression may stand for. */
sealed interface Value {
  /** A value of which nothing is known. */
  External UNKNOWN = new External("?");

  /** Something of another module, or of an unknown value, by path. */
  record External(String path) implements Value {
    boolean unknown() {
      return path.charAt(0) == '?';
    }
  }

  /**
   * A function or class of this file.
   *
   * @param receiver what it is bound to as a method
   */
  record Own(Scope scope, @Nullable Value receiver) implements Value {}

  /** An instance of a class of this file. */
  record Instance(Scope type) implements Value {}

  /** A kernel of this file with a grid. */
  record Launcher(Scope kernel) implements Value {}

  /** The dictionary of a module, class or instance. */
  record Namespace(Value of) implements Value {}

  /** A String, Long, Double, Boolean or {@link Bytes}. */
  record Constant(Object value) implements Value {}

  /** Python bytes, one a character. */
  record Bytes(String latin1) {}

  /** {@code operator.attrgetter}; {@code operator.methodcaller} where it calls. */
  record Getter(String attributes, boolean calls) implements Value {}

  /** A display or comprehension: list, tuple, set, dictionary. Compared by identity. */
  final class Box implements Value {
    /** Its elements in order where they can be told apart; empty otherwise. */
    final List<Cell> items;

    /** Values by constant key. */
    final java.util.Map<Object, Cell> entries = new java.util.LinkedHashMap<>();

    /** Every element or value. */
    final Cell content = new Cell();

    /** More was stored in it than it was written with. */
    boolean changed;

    Box(List<Cell> items) {
      this.items = items;
    }
  }
}
