package dev.kbx.program;

import dev.kbx.program.Scope.Kind;
import dev.kbx.program.Value.Box;
import dev.kbx.program.Value.External;
import dev.kbx.program.Value.Instance;
import dev.kbx.program.Value.Own;
import dev.kbx.syntax.Node;
import dev.kbx.syntax.Place;
import dev.kbx.syntax.PythonSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Pushes values through a program until nothing changes: along assignments, arguments, returns,
 * attributes.
 */
final class ValueFlow {
  /** Steps beyond which a program counts as unreadable; ordinary ones take a few a node. */
  private static final int MAX_STEPS = 300_000;

  private record Step(Consumer<Value> watcher, Value value) {}

  /** Something done to a path by a call: {@code setattr(torch, "x", y)}. */
  record Effect(Access.Kind kind, String path) {}

  private final PythonSource source;
  private final Layout layout;
  private final Map<Node, Cell> cells = new HashMap<>();
  private final Deque<Step> queue = new ArrayDeque<>();
  private final Scope module;
  private final Folding folding = new Folding(this);
  private final Calls calls = new Calls(this);
  private final Members members = new Members(this, calls);
  private final Meaning meaning = new Meaning(this, calls, members, folding);
  private final Map<Node, Set<Effect>> effects = new HashMap<>();
  private boolean readable;
  private int steps;
  private volatile @Nullable Map<Scope, Set<Scope>> references;

  ValueFlow(PythonSource source, Scope module) {
    this.source = source;
    this.module = module;
    layout = new Layout(source, module);
    readable = source.understood();
  }

  void run() {
    layout.inner().forEach(meaning::define);
    // Backwards: operands before what uses them, so that most values come once.
    for (Node node : nodes().reversed()) meaning.of(node);
    settle();
    // What nothing flowed into may be anything.
    for (Scope scope : scopes()) scope.variables.values().forEach(this::orUnknown);
    for (Node node : nodes()) {
      Cell cell = cells.get(node);
      if (cell != null) orUnknown(cell);
    }
    settle();
  }

  private void orUnknown(Cell cell) {
    if (cell.values.isEmpty()) add(cell, Value.UNKNOWN);
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

  void effect(Access.Kind kind, Value value, @Nullable Node node) {
    if (node == null || !(value instanceof External(String path)) || path.equals("?")) return;
    effects.computeIfAbsent(node, _ -> new LinkedHashSet<>()).add(new Effect(kind, path));
  }

  Set<Effect> effects(Node node) {
    return effects.getOrDefault(node, Set.of());
  }

  Members members() {
    return members;
  }

  Folding folding() {
    return folding;
  }

  /** Something in the file defines an attribute of that name. */
  boolean storesAttribute(String name) {
    return layout.attributes().contains(name);
  }

  // Cells

  void add(Cell cell, Value value) {
    Value taken = cell.full() ? Value.UNKNOWN : value;
    if (!cell.values.add(taken)) return;
    for (Consumer<Value> watcher : cell.watchers) queue.add(new Step(watcher, taken));
  }

  /** Has the watcher told every value that the cell has or gets. */
  void each(Cell cell, Consumer<Value> watcher) {
    cell.watchers.add(watcher);
    for (Value value : cell.values) queue.add(new Step(watcher, value));
  }

  void flow(Cell from, Cell to) {
    if (from != to) each(from, value -> add(to, value));
  }

  /** What an expression may stand for. */
  Cell cell(Node node) {
    Node inner = node;
    while (inner.is("parenthesized_expression") && inner.children().size() == 3) {
      inner = inner.children().get(1);
    }
    Cell known = cells.get(inner);
    if (known != null) return known;
    Cell made = inner.is("identifier") ? variable(text(inner), scopeOf(inner)) : new Cell();
    cells.put(inner, made);
    return made;
  }

  /** The variable that a name means in a scope. */
  Cell variable(String name, Scope from) {
    boolean first = true;
    for (Scope scope = from; scope != null; scope = scope.parent().orElse(null)) {
      if (scope.globals.contains(name)) break;
      boolean visible = first || scope.kind() != Kind.CLASS;
      first = false;
      if (!visible || scope.nonlocals.contains(name)) continue;
      Cell cell = scope.variables.get(name);
      if (cell != null) return cell;
    }
    return module.variables.computeIfAbsent(name, _ -> unbound(name, from));
  }

  /** A name that nothing binds: a builtin, or something imported by a star. */
  private static Cell unbound(String name, Scope from) {
    Cell cell = new Cell();
    if (name.equals("__builtins__")) cell.values.add(new External("builtins"));
    else if (Builtins.NAMES.contains(name)) cell.values.add(new External("builtins." + name));
    for (Scope at = from; at != null; at = at.parent().orElse(null)) {
      for (String star : at.stars) cell.values.add(new External(star + "." + name));
    }
    return cell;
  }

  Scope module() {
    return module;
  }

  void unreadable() {
    readable = false;
  }

  // Answers

  boolean readable() {
    return readable;
  }

  List<Node> nodes() {
    return layout.nodes();
  }

  List<Scope> scopes() {
    return layout.scopes();
  }

  /** The scope that a definition opens; null for every other node. */
  @Nullable Scope defined(Node definition) {
    return layout.defined(definition);
  }

  @Nullable Node parent(Node node) {
    return layout.parent(node);
  }

  Scope scopeOf(Node node) {
    return layout.scopeOf(node);
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

  Set<String> paths(Cell cell) {
    Set<String> paths = new LinkedHashSet<>();
    for (Value value : cell.values) {
      String path = path(value);
      if (path != null) paths.add(path);
    }
    return paths;
  }

  static @Nullable String path(Value value) {
    return switch (value) {
      case External(String path) -> path;
      case Own(Scope scope, _) -> scope.path();
      case Instance(Scope type) -> type.path() + "()";
      case Value.Launcher(Scope kernel) -> kernel.path() + "[]";
      case Value.Descriptor(_, Own function) -> function.scope().path();
      case Value.Partial(Value function, _) -> path(function);
      case Value.Namespace(External of) -> of.path() + ".__dict__";
      case Value.Made(_, External of) -> of.path();
      case Value.Getter(String name, boolean calls) when calls -> "?." + name;
      default -> null;
    };
  }

  Optional<Object> constant(Cell cell) {
    return cell.values.size() == 1
        ? Optional.ofNullable(Constants.of(cell.values.iterator().next()))
        : Optional.empty();
  }

  Set<Object> constants(Cell cell) {
    Set<Object> found = new LinkedHashSet<>();
    for (Value value : cell.values) {
      Object constant = Constants.of(value);
      if (constant != null) found.add(constant);
    }
    return found;
  }

  /** Functions and classes of the file among a cell's values, and the classes of instances. */
  Set<Scope> owned(Cell cell) {
    Set<Scope> found = new LinkedHashSet<>();
    for (Value value : cell.values) {
      Value inner = value instanceof Value.Partial(Value function, _) ? function : value;
      switch (inner) {
        case Own(Scope scope, _) -> found.add(scope);
        case Instance(Scope type) -> found.add(type);
        case Value.Launcher(Scope kernel) -> found.add(kernel);
        case Value.Descriptor(_, Own function) -> found.add(function.scope());
        default -> {}
      }
    }
    return found;
  }

  Set<Scope> reachable(Collection<Scope> start) {
    Map<Scope, Set<Scope>> references = references();
    Set<Scope> found = new LinkedHashSet<>();
    Deque<Scope> open = new ArrayDeque<>(start);
    while (!open.isEmpty()) {
      Scope scope = open.pop();
      if (found.add(scope)) open.addAll(references.getOrDefault(scope, Set.of()));
    }
    return found;
  }

  private Map<Scope, Set<Scope>> references() {
    Map<Scope, Set<Scope>> known = references;
    if (known == null) references = known = findReferences();
    return known;
  }

  /** The class inherits from one of elsewhere. */
  private static boolean foreign(Scope type) {
    Set<Scope> seen = new HashSet<>();
    Deque<Scope> open = new ArrayDeque<>(List.of(type));
    while (!open.isEmpty()) {
      Scope each = open.pop();
      if (!seen.add(each)) continue;
      for (Value base : each.result.values) {
        if (base instanceof External(String path) && !path.equals("builtins.object")) return true;
        if (base instanceof Own(Scope own, _) && own.kind() == Kind.CLASS) open.push(own);
      }
    }
    return false;
  }

  /** What each scope refers to: functions and classes, and the methods that others may call. */
  private Map<Scope, Set<Scope>> findReferences() {
    Map<Scope, Set<Scope>> found = new HashMap<>();
    for (Node node : nodes()) {
      Cell cell = cells.get(node);
      if (cell == null) continue;
      Set<Scope> owned = owned(cell);
      if (owned.isEmpty()) continue;
      found.computeIfAbsent(scopeOf(node), _ -> new LinkedHashSet<>()).addAll(owned);
    }
    for (Scope each : scopes()) {
      Scope type = each.parent().orElse(null);
      if (type == null || type.kind() != Kind.CLASS) continue;
      // A base class from elsewhere may call any method, the language those with special names.
      boolean called =
          (each.name().startsWith("__") && each.name().endsWith("__")) || foreign(type);
      if (called) found.computeIfAbsent(type, _ -> new LinkedHashSet<>()).add(each);
    }
    return found;
  }
}
