package dev.kbx.program;

import dev.kbx.program.Resolver.Slot;
import dev.kbx.syntax.Node;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A module, class, function or lambda: code with a namespace. Compared by identity. */
public final class Scope {
  /** The kind of code; comprehensions share the scope around them. */
  public enum Kind {
    MODULE,
    CLASS,
    FUNCTION,
    LAMBDA
  }

  /**
   * A parameter of a function.
   *
   * @param name without stars
   * @param stars 0, 1 for {@code *args}, 2 for {@code **kwargs}
   * @param type its annotation
   * @param value its default
   */
  public record Parameter(
      String name, int stars, Node node, @Nullable Node type, @Nullable Node value) {}

  /** Scopes in a path; outer ones are left out. */
  private static final int MAX_DEPTH = 8;

  private final Kind kind;
  private final String name;
  private final Node node;
  private final @Nullable Scope parent;

  /** Values of the variables that this scope binds. */
  final Map<String, Slot> variables = new LinkedHashMap<>();

  /** Values of attributes that are set from outside: {@code self.x = …}, {@code function.x = …}. */
  private final Map<String, Slot> attributes = new HashMap<>();

  /** Names declared {@code global}. */
  final Set<String> globals = new HashSet<>();

  /** Names declared {@code nonlocal}. */
  final Set<String> nonlocals = new HashSet<>();

  /** Return values of a function; base classes of a class. */
  final Slot result = new Slot();

  /** Modules imported with {@code from module import *}. */
  final List<String> stars = new ArrayList<>();

  final List<Parameter> parameters = new ArrayList<>();
  final List<Node> decorators = new ArrayList<>();

  Scope(Kind kind, String name, Node node, @Nullable Scope parent) {
    this.kind = kind;
    this.name = name;
    this.node = node;
    this.parent = parent;
  }

  /** The slot of an attribute that is set from outside. */
  Slot attribute(String attribute) {
    return attributes.computeIfAbsent(attribute, _ -> new Slot());
  }

  /** Its variables and the attributes that are set from outside. */
  List<Slot> slots() {
    List<Slot> all = new ArrayList<>(variables.values());
    all.addAll(attributes.values());
    return all;
  }

  public Kind kind() {
    return kind;
  }

  /** The scope's name; empty for a module, {@code <lambda>} for a lambda. */
  public String name() {
    return name;
  }

  /** The definition: {@code function_definition}, {@code class_definition}, {@code lambda}. */
  public Node node() {
    return node;
  }

  /** The scope it is defined in; empty for a module. */
  public Optional<Scope> parent() {
    return Optional.ofNullable(parent);
  }

  /** {@code @helper}, {@code @Class.method}, {@code @outer.inner}; {@code @} for the module. */
  public String path() {
    StringBuilder path = new StringBuilder();
    int depth = 0;
    for (Scope at = this; at != null && depth < MAX_DEPTH; at = at.parent, depth++) {
      if (at.kind != Kind.MODULE) path.insert(0, path.isEmpty() ? at.name : at.name + ".");
    }
    return path.insert(0, '@').toString();
  }

  /** The scope's parameters in order; none for modules and classes. */
  public List<Parameter> parameters() {
    return List.copyOf(parameters);
  }

  /** The expressions of the decorators, outermost first. */
  public List<Node> decorators() {
    return List.copyOf(decorators);
  }

  /** Whether a name is a local variable, neither global nor nonlocal. */
  public boolean binds(String variable) {
    return variables.containsKey(variable)
        && !globals.contains(variable)
        && !nonlocals.contains(variable);
  }

  /** Whether this scope is another one or is nested in it, at any depth. */
  public boolean within(Scope other) {
    for (Scope at = this; at != null; at = at.parent) if (at == other) return true;
    return false;
  }

  @Override
  public String toString() {
    return path();
  }
}
