package dev.kbx.program;

import dev.kbx.syntax.Node;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** An abstract value: one of the things that an expression may evaluate to. */
sealed interface AbstractValue {
  /** Any value: nothing is known of it. */
  External UNKNOWN = new External("?");

  /** A value of another module or an attribute of an unknown value, by its path. */
  record External(String path) implements AbstractValue {
    /** Characters; longer paths become unknown. */
    private static final int MAX_LENGTH = 120;

    /** Includes an empty path, as from {@code import_module("")}. */
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
   * @param receiver of a bound method; null for a plain function or class
   */
  record Definition(Scope scope, @Nullable AbstractValue receiver) implements AbstractValue {}

  /** An instance of a class of this file. */
  record Instance(Scope type) implements AbstractValue {}

  /** The result of {@code property}, {@code staticmethod} or {@code classmethod} on a function. */
  record Descriptor(String kind, Definition function) implements AbstractValue {}

  /** A function of this file with a launch grid: {@code kernel[grid]}. */
  record KernelLauncher(Scope kernel) implements AbstractValue {}

  /** The namespace of a module or function of this file: {@code globals()}, {@code locals()}. */
  record ScopeDict(Scope scope) implements AbstractValue {}

  /** {@code __dict__} of any other object. */
  record ObjectDict(AbstractValue of) implements AbstractValue {}

  /** A String, Long, Double or Boolean; bytes are a String, one character a byte. */
  record Constant(Object value) implements AbstractValue {}

  /** {@code operator.attrgetter}, or {@code operator.methodcaller} if it calls. */
  record AttributeGetter(String attributes, boolean calls) implements AbstractValue {}

  /** A method of a constant, a container or a dictionary. */
  record BoundMethod(AbstractValue receiver, String name) implements AbstractValue {}

  /** {@code functools.partial}; the function is not a {@code Partial} itself. */
  record Partial(AbstractValue function, Arguments first) implements AbstractValue {}

  /** An object of another module's class, with the call that constructed it. */
  record Constructed(Node call, External of) implements AbstractValue {}

  /** A list, tuple, set or dictionary. */
  final class Container implements AbstractValue {
    /** Its elements in order; empty where their positions are unknown. */
    final List<ValueSet> items;

    /** Values of a dictionary by constant key. */
    final Map<Object, ValueSet> entries = new LinkedHashMap<>();

    /** All elements or values. */
    final ValueSet content = new ValueSet();

    /** All keys. */
    final ValueSet keys = new ValueSet();

    /** Elements were added: items and entries are incomplete. */
    boolean changed;

    /** The number of elements is unknown, as in a comprehension. */
    boolean open;

    Container(List<ValueSet> items) {
      this.items = items;
    }
  }
}
