package dev.kbx.program;

import dev.kbx.program.Layout.Entry;
import dev.kbx.program.Scope.Kind;
import dev.kbx.program.Value.Box;
import dev.kbx.program.Value.Constant;
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
final class Flow {
  /** Steps beyond which a program counts as unreadable; ordinary ones take a few a node. */
  private static final int MAX_STEPS = 1_000_000;

  private record Step(Consumer<Value> watcher, Value value) {}

  final Map<Node, Entry> entries = new HashMap<>();
  final Map<Node, Scope> opened = new HashMap<>();
  private final Map<Node, Cell> cells = new HashMap<>();
  private final List<Node> nodes = new ArrayList<>();
  private final List<Scope> scopes = new ArrayList<>();
  private final Deque<Step> queue = new ArrayDeque<>();
  private final Scope module;
  private final Entry outside;
  private final Meaning meaning = new Meaning(this);
  private boolean readable;

  Flow(PythonSource source, Scope module) {
    this.module = module;
    outside = new Entry(null, module, source, null);
    readable = source.understood();
    scopes.add(module);
  }

  void run() {
    enter(outside.source(), null, module.node(), module);
    int steps = 0;
    for (Step step = queue.poll(); step != null; step = queue.poll()) {
      if (++steps > MAX_STEPS) {
        readable = false;
        queue.clear();
        return;
      }
      step.watcher.accept(step.value);
    }
  }

  /** Takes in a tree; host is the call that executes it. */
  void enter(PythonSource source, @Nullable Node host, Node root, Scope top) {
    Layout layout = new Layout(source, host, entries, opened);
    layout.read(root, top);
    nodes.addAll(layout.nodes);
    scopes.addAll(layout.scopes);
    layout.scopes.forEach(meaning::define);
    // Backwards: operands before what uses them, so that most values come once.
    for (Node node : layout.nodes.reversed()) meaning.of(node);
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
    return module.variables.computeIfAbsent(name, _ -> builtin(name, from));
  }

  private Cell builtin(String name, Scope from) {
    Cell cell = new Cell();
    boolean declared = from.globals.contains(name);
    if (!declared) cell.values.add(new External("builtins." + name));
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
    return nodes;
  }

  List<Scope> scopes() {
    return List.copyOf(scopes);
  }

  private Entry entry(Node node) {
    return entries.getOrDefault(node, outside);
  }

  @Nullable Node parent(Node node) {
    return entry(node).parent();
  }

  Scope scopeOf(Node node) {
    return entry(node).scope();
  }

  String text(Node node) {
    return entry(node).source().text(node);
  }

  Optional<Object> literal(Node node) {
    return entry(node).source().literal(node);
  }

  Place place(Node node) {
    Entry entry = entry(node);
    while (entry.host() != null) {
      node = entry.host();
      entry = entry(node);
    }
    return entry.source().place(node);
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
      case External external -> external.path();
      case Own own -> own.scope().path();
      case Instance instance -> instance.type().path() + "()";
      case Value.Launcher launcher -> launcher.kernel().path() + "[]";
      case Value.Namespace space -> path(space.of()) + ".__dict__";
      case Constant _, Box _, Value.Getter _ -> null;
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
      if (value instanceof Own own) found.add(own.scope());
      if (value instanceof Instance instance) found.add(instance.type());
      if (value instanceof Value.Launcher launcher) found.add(launcher.kernel());
    }
    return found;
  }

  Set<Scope> reachable(Collection<Scope> start) {
    Map<Scope, List<Node>> bodies = new HashMap<>();
    for (Node node : nodes) {
      if (cells.containsKey(node)) {
        bodies.computeIfAbsent(scopeOf(node), _ -> new ArrayList<>()).add(node);
      }
    }
    Set<Scope> found = new LinkedHashSet<>();
    Deque<Scope> open = new ArrayDeque<>(start);
    while (!open.isEmpty()) {
      Scope scope = open.pop();
      if (!found.add(scope)) continue;
      for (Node node : bodies.getOrDefault(scope, List.of())) {
        Cell cell = cells.get(node);
        if (cell != null) open.addAll(owned(cell));
      }
      if (scope.kind() == Kind.CLASS) {
        for (Scope each : scopes) {
          String name = each.name();
          boolean special = name.startsWith("__") && name.endsWith("__");
          if (special && each.parent().orElse(null) == scope) open.add(each);
        }
      }
    }
    return found;
  }
}
