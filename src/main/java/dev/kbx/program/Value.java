package dev.kbx.program;

import dev.kbx.syntax.Node;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Something an expression may stand for. */
sealed interface Value {
  /** A value of which nothing is known. */
  External UNKNOWN = new External("?");

  /** Something of another module, or of an unknown value, by path. */
  record External(String path) implements Value {
    /** Longer paths tell nobody more. */
    private static final int MAX_LENGTH = 120;

    /** What has no name, as {@code import_module("")}, is unknown too. */
    boolean unknown() {
      return path.isEmpty() || path.charAt(0) == '?';
    }

    External attribute(String name) {
      return unknown() ? new External("?." + name) : step("." + name);
    }

    External called() {
      return unknown() ? UNKNOWN : step("()");
    }

    External element() {
      return unknown() ? UNKNOWN : step("[]");
    }

    private External step(String step) {
      String longer = path + step;
      return longer.length() > MAX_LENGTH ? UNKNOWN : new External(longer);
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

  /** What {@code property}, {@code staticmethod} or {@code classmethod} makes of a function. */
  record Descriptor(String kind, Own function) implements Value {}

  /** A function of this file with a grid. */
  record Launcher(Scope kernel) implements Value {}

  /** Variables by name: the dictionary of a module or function of this file, or that module. */
  record Names(Scope scope) implements Value {}

  /** The dictionary of anything else but a dictionary. */
  record Namespace(Value of) implements Value {}

  /** A String, Long, Double or Boolean; bytes are a String, one character a byte. */
  record Constant(Object value) implements Value {}

  /** {@code operator.attrgetter}; {@code operator.methodcaller} where it calls. */
  record Getter(String attributes, boolean calls) implements Value {}

  /** A method of a constant, a container or a dictionary. */
  record Method(Value receiver, String name) implements Value {}

  /** A function with arguments given in advance; the function is none itself. */
  record Partial(Value function, Arguments first) implements Value {}

  /** What a call of a constructor from elsewhere made, where its arguments matter later. */
  record Made(Node call, External of) implements Value {}

  /** A display or comprehension: list, tuple, set, dictionary. */
  final class Box implements Value {
    /** Its elements in order; empty where they cannot be told apart. */
    final List<Cell> items;

    /** Values by constant key. */
    final Map<Object, Cell> entries = new LinkedHashMap<>();

    /** Every element or value. */
    final Cell content = new Cell();

    /** Every key. */
    final Cell keys = new Cell();

    /** It holds other things than items and entries say. */
    boolean changed;

    /** A comprehension: how many elements it has is unknown. */
    boolean open;

    Box(List<Cell> items) {
      this.items = items;
    }
  }
}
