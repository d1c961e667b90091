package dev.kbx.program;

import dev.kbx.program.AbstractValue.Definition;
import dev.kbx.program.AbstractValue.External;
import dev.kbx.program.AbstractValue.Instance;
import dev.kbx.program.Scope.Kind;
import dev.kbx.syntax.Node;
import dev.kbx.syntax.Place;
import dev.kbx.syntax.PythonSource;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Solves the data-flow equations of a program with a work list: values flow along assignments,
 * arguments, returns and attributes until nothing changes. Insensitive to order and conditions.
 */
final class ValueFlow {
  /** Steps for one program; a node takes a few. Beyond that it counts as unreadable. */
  private static final int MAX_STEPS = 300_000;

  private record Step(Consumer<AbstractValue> watcher, AbstractValue value) {}

  /** A read, binding or deletion of a path by a call: {@code setattr(torch, "x", y)}. */
  record Effect(Access.Kind kind, String path) {}

  private final PythonSource source;
  private final ScopeBuilder scopeBuilder;
  private final Map<Node, ValueSet> nodeValues = new HashMap<>();
  private final Deque<Step> queue = new ArrayDeque<>();
  private final Scope module;
  private final ConstantFolding folding = new ConstantFolding(this);
  private final CallBinding calls = new CallBinding(this);
  private final Attributes attributes = new Attributes(this, calls);
  private final TransferFunctions transfer =
      new TransferFunctions(this, calls, attributes, folding);
  private final Map<Node, Set<Effect>> effects = new HashMap<>();
  private boolean readable;
  private int steps;

  ValueFlow(PythonSource source, Scope module) {
    this.source = source;
    this.module = module;
    scopeBuilder = new ScopeBuilder(source, module);
    readable = source.understood();
  }

  void run() {
    scopeBuilder.inner().forEach(transfer::define);
    // Backwards: operands before their operators, so that most values arrive once.
    for (Node node : nodes().reversed()) transfer.of(node);
    settle();
    // Sets that stayed empty may hold anything.
    for (Scope scope : scopes()) scope.variables.values().forEach(this::orUnknown);
    for (Node node : nodes()) {
      ValueSet set = nodeValues.get(node);
      if (set != null) orUnknown(set);
    }
    settle();
  }

  private void orUnknown(ValueSet set) {
    if (set.values.isEmpty()) add(set, AbstractValue.UNKNOWN);
  }

  private void settle() {
    for (Step step = queue.poll(); step != null; step = queue.poll()) {
      if (++steps > MAX_STEPS) {
        readable = false;
        queue.clear();
        return;
      }
      step.watcher.accept(step.value);
    }
  }

  /** Records how the call at a node uses a path. */
  void effect(Access.Kind kind, AbstractValue value, @Nullable Node node) {
    if (node == null || !(value instanceof External(String path)) || path.equals("?")) return;
    effects.computeIfAbsent(node, _ -> new LinkedHashSet<>()).add(new Effect(kind, path));
  }

  /** How the call at a node uses paths by name. */
  Set<Effect> effects(Node node) {
    return effects.getOrDefault(node, Set.of());
  }

  Attributes attributes() {
    return attributes;
  }

  ConstantFolding folding() {
    return folding;
  }

  /** Whether the file assigns an attribute of that name. */
  boolean storesAttribute(String name) {
    return scopeBuilder.attributes().contains(name);
  }

  // Value sets

  void add(ValueSet set, AbstractValue value) {
    AbstractValue taken = set.full() ? AbstractValue.UNKNOWN : value;
    if (!set.values.add(taken)) return;
    for (Consumer<AbstractValue> watcher : set.watchers) queue.add(new Step(watcher, taken));
  }

  /** Calls the watcher once for every value that the set has now or gets later. */
  void forEach(ValueSet set, Consumer<AbstractValue> watcher) {
    set.watchers.add(watcher);
    for (AbstractValue value : set.values) queue.add(new Step(watcher, value));
  }

  void copy(ValueSet from, ValueSet to) {
    if (from != to) forEach(from, value -> add(to, value));
  }

  /** The values that an expression may have. */
  ValueSet valuesOf(Node node) {
    Node inner = node;
    while (inner.is("parenthesized_expression") && inner.children().size() == 3) {
      inner = inner.children().get(1);
    }
    ValueSet known = nodeValues.get(inner);
    if (known != null) return known;
    ValueSet made = inner.is("identifier") ? variable(text(inner), scopeOf(inner)) : new ValueSet();
    nodeValues.put(inner, made);
    return made;
  }

  /** The same; null if no set has been made for the node. */
  @Nullable ValueSet knownValuesOf(Node node) {
    return nodeValues.get(node);
  }

  /** The variable that a name refers to in a scope. */
  ValueSet variable(String name, Scope from) {
    boolean first = true;
    for (Scope scope = from; scope != null; scope = scope.parent().orElse(null)) {
      if (scope.globals.contains(name)) break;
      boolean visible = first || scope.kind() != Kind.CLASS;
      first = false;
      if (!visible || scope.nonlocals.contains(name)) continue;
      ValueSet set = scope.variables.get(name);
      if (set != null) return set;
    }
    return module.variables.computeIfAbsent(name, _ -> unbound(name, from));
  }

  /** A name that the file does not bind: a builtin, or imported with a star. */
  private static ValueSet unbound(String name, Scope from) {
    ValueSet set = new ValueSet();
    if (name.equals("__builtins__")) set.values.add(new External("builtins"));
    else if (Builtins.NAMES.contains(name)) set.values.add(new External("builtins." + name));
    for (Scope at = from; at != null; at = at.parent().orElse(null)) {
      for (String star : at.stars) set.values.add(new External(star + "." + name));
    }
    return set;
  }

  Scope module() {
    return module;
  }

  void unreadable() {
    readable = false;
  }

  // Results

  boolean readable() {
    return readable;
  }

  List<Node> nodes() {
    return scopeBuilder.nodes();
  }

  List<Scope> scopes() {
    return scopeBuilder.scopes();
  }

  /** The scope that a definition opens; null for every other node. */
  @Nullable Scope defined(Node definition) {
    return scopeBuilder.defined(definition);
  }

  /** The definition that a decorator is applied to; null in broken source. */
  @Nullable Node decorated(Node decorator) {
    return scopeBuilder.decorated(decorator);
  }

  @Nullable Node parent(Node node) {
    return scopeBuilder.parent(node);
  }

  Scope scopeOf(Node node) {
    return scopeBuilder.scopeOf(node);
  }

  String text(Node node) {
    return source.text(node);
  }

  Optional<Object> literal(Node node) {
    return source.literal(node);
  }

  String piece(Node string, Node content) {
    return source.piece(string, content);
  }

  Place place(Node node) {
    return source.place(node);
  }

  Set<String> paths(ValueSet set) {
    Set<String> paths = new LinkedHashSet<>();
    for (AbstractValue value : set.values) {
      String path = path(value);
      if (path != null) paths.add(path);
    }
    return paths;
  }

  static @Nullable String path(AbstractValue value) {
    return switch (value) {
      case External(String path) -> path;
      case Definition(Scope scope, _) -> scope.path();
      case Instance(Scope type) -> type.path() + "()";
      case AbstractValue.KernelLauncher(Scope kernel) -> kernel.path() + "[]";
      case AbstractValue.Descriptor(_, Definition function) -> function.scope().path();
      case AbstractValue.Partial(AbstractValue function, _) -> path(function);
      case AbstractValue.ObjectDict(External of) -> of.path() + ".__dict__";
      case AbstractValue.Constructed(_, External of) -> of.path();
      case AbstractValue.AttributeGetter(String name, boolean calls) when calls -> "?." + name;
      default -> null;
    };
  }

  Optional<Object> constant(ValueSet set) {
    return set.values.size() == 1
        ? Optional.ofNullable(Constants.of(set.values.iterator().next()))
        : Optional.empty();
  }

  Set<Object> constants(ValueSet set) {
    Set<Object> found = new LinkedHashSet<>();
    for (AbstractValue value : set.values) {
      Object constant = Constants.of(value);
      if (constant != null) found.add(constant);
    }
    return found;
  }

  /** The functions and classes of the file among the values; for an instance, its class. */
  Set<Scope> owned(ValueSet set) {
    Set<Scope> found = new LinkedHashSet<>();
    for (AbstractValue value : set.values) {
      AbstractValue inner =
          value instanceof AbstractValue.Partial(AbstractValue function, _) ? function : value;
      switch (inner) {
        case Definition(Scope scope, _) -> found.add(scope);
        case Instance(Scope type) -> found.add(type);
        case AbstractValue.KernelLauncher(Scope kernel) -> found.add(kernel);
        case AbstractValue.Descriptor(_, Definition function) -> found.add(function.scope());
        default -> {}
      }
    }
    return found;
  }
}
