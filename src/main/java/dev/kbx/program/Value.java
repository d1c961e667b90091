package dev.kbx.program;

import dev.kbx.syntax.Node;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** One of the things that an expression may stand for. */
sealed interface Value {
  /** Its path as {@link Program} defines it; null for constants and containers. */
  default @Nullable String path() {
    return null;
  }

  /** A String, Long, Double or Boolean, or a List of those; null for everything else. */
  default @Nullable Object constant() {
    return null;
  }

  /** The paths of those that have one. */
  static Set<String> paths(Collection<Value> values) {
    Set<String> found = new LinkedHashSet<>();
    for (Value value : values) {
      String path = value.path();
      if (path != null) found.add(path);
    }
    return found;
  }

  static Set<Object> constants(Collection<Value> values) {
    Set<Object> found = new LinkedHashSet<>();
    for (Value value : values) {
      Object constant = value.constant();
      if (constant != null) found.add(constant);
    }
    return found;
  }

  /** The constant that is the only value. */
  static Optional<Object> constant(Collection<Value> values) {
    return values.size() == 1 ? constants(values).stream().findFirst() : Optional.empty();
  }

  /** The functions and classes of the file among values; for an instance, its class. */
  static Set<Scope> scopes(Collection<Value> values) {
    Set<Scope> found = new LinkedHashSet<>();
    for (Value value : values) {
      switch (value) {
        case Definition(Scope scope, _) -> found.add(scope);
        case Instance(Scope type) -> found.add(type);
        case Launcher(Scope kernel) -> found.add(kernel);
        case External _, Constant _, Container _ -> {}
      }
    }
    return found;
  }

  /** A value of another module or an attribute of an unknown value. */
  record External(String path) implements Value {
    /** Any value: nothing is known of it. */
    static final External UNKNOWN = new External("?");

    /** Characters; longer paths become unknown. */
    private static final int MAX_LENGTH = 120;

    /** Includes an empty path, as from {@code import_module("")}. */
    boolean unknown() {
      return path.isEmpty() || path.charAt(0) == '?';
    }

    External attribute(String name) {
      return unknown() ? new External("?." + name) : step("." + name);
    }

    /** {@code x = x.view(…)} in a loop would lengthen the path: a repeated method adds nothing. */
    External called() {
      if (unknown()) return UNKNOWN;
      int dot = Math.max(path.lastIndexOf('.'), 0);
      String before = path.substring(0, dot);
      return before.endsWith(path.substring(dot) + "()") ? new External(before) : step("()");
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
  record Definition(Scope scope, @Nullable Value receiver) implements Value {
    @Override
    public String path() {
      return scope.path();
    }
  }

  /** An instance of a class of this file. */
  record Instance(Scope type) implements Value {
    @Override
    public String path() {
      return type.path() + "()";
    }
  }

  /** A function of this file with a launch grid: {@code kernel[grid]}. */
  record Launcher(Scope kernel) implements Value {
    @Override
    public String path() {
      return kernel.path() + "[]";
    }
  }

  /** A String, Long, Double or Boolean; bytes are a String, one character a byte. */
  record Constant(Object value) implements Value {
    @Override
    public Object constant() {
      return value;
    }
  }

  /** What an expression makes: a list, tuple, set, dictionary or {@code triton.Config}. */
  final class Container implements Value {
    /** Longer lists are no constants. */
    private static final int MAX_CONSTANT = 64;

    final Node node;

    /** Elements by index or constant key; none if others may be added. */
    final Map<Object, Set<Value>> entries = new LinkedHashMap<>();

    /** All elements, or values of a dictionary. */
    final Set<Value> content = new LinkedHashSet<>();

    /** Other elements may be added, or their number is unknown. */
    boolean open;

    Container(Node node) {
      this.node = node;
    }

    @Override
    public @Nullable Object constant() {
      if (open || node.is("dictionary", "call") || entries.size() > MAX_CONSTANT) return null;
      List<Object> constants = new ArrayList<>();
      for (Set<Value> entry : entries.values()) {
        boolean one = entry.size() == 1 && entry.iterator().next() instanceof Constant;
        if (!one) return null;
        constants.add(((Constant) entry.iterator().next()).value);
      }
      return constants;
    }
  }
}
