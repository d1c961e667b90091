package dev.kbx.program;

import dev.kbx.syntax.Node;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Something an expression may stand for. */
sealed interface AbstractValue {
  /** A value of which nothing is known. */
  External UNKNOWN = new External("?");

  /** Something of another module, or of an unknown value, by path. */
  record External(String path) implements AbstractValue {
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
  record Definition(Scope scope, @Nullable AbstractValue receiver) implements AbstractValue {}

  /** An instance of a class of this file. */
  record Instance(Scope type) implements AbstractValue {}

  /** What {@code property}, {@code staticmethod} or {@code classmethod} makes of a function. */
  record Descriptor(String kind, Definition function) implements AbstractValue {}

  /** A function of this file with a grid. */
  record KernelLauncher(Scope kernel) implements AbstractValue {}

  /** Variables by name: the dictionary of a module or function of this file, or that module. */
  record ScopeDict(Scope scope) implements AbstractValue {}

  /** The dictionary of anything else but a dictionary. */
  record ObjectDict(AbstractValue of) implements AbstractValue {}

  /** A String, Long, Double or Boolean; bytes are a String, one character a byte. */
  record Constant(Object value) implements AbstractValue {}

  /** {@code operator.attrgetter}; {@code operator.methodcaller} where it calls. */
  record AttributeGetter(String attributes, boolean calls) implements AbstractValue {}

  /** A method of a constant, a container or a dictionary. */
  record BoundMethod(AbstractValue receiver, String name) implements AbstractValue {}

  /** A function with arguments given in advance; the function is none itself. */
  record Partial(AbstractValue function, Arguments first) implements AbstractValue {}

  /** What a call of a constructor from elsewhere made, where its arguments matter later. */
  record Constructed(Node call, External of) implements AbstractValue {}

  /** A display or comprehension: list, tuple, set, dictionary. */
  final class Container implements AbstractValue {
    /** Its elements in order; empty where they cannot be told apart. */
    final List<ValueSet> items;

    /** Values by constant key. */
    final Map<Object, ValueSet> entries = new LinkedHashMap<>();

    /** Every element or value. */
    final ValueSet content = new ValueSet();

    /** Every key. */
    final ValueSet keys = new ValueSet();

    /** It holds other things than items and entries say. */
    boolean changed;

    /** A comprehension: how many elements it has is unknown. */
    boolean open;

    Container(List<ValueSet> items) {
      this.items = items;
    }
  }
}
