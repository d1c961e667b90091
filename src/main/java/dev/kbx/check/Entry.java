package dev.kbx.check;

import dev.kbx.program.Call;
import dev.kbx.program.Launch;
import dev.kbx.program.Program;
import dev.kbx.program.Scope;
import dev.kbx.syntax.Node;
import dev.kbx.syntax.Place;
import dev.kbx.task.Task;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * What a call of the entry runs: surely, or perhaps.
 *
 * <p>Sure is what stands outside of every condition, loop and {@code try}, in the entry or in a
 * function that is surely called, and not behind a branch that returns what a kernel may have
 * computed.
 */
final class Entry {
  static final String[] CONDITIONS = {
    "if_statement",
    "conditional_expression",
    "boolean_operator",
    "try_statement",
    "for_statement",
    "while_statement",
    "match_statement",
    "list_comprehension",
    "set_comprehension",
    "dictionary_comprehension",
    "generator_expression",
    "assert_statement"
  };

  private final Program program;
  private final String name;
  private final Map<Scope, List<Call>> callsOf = new HashMap<>();
  private final Set<Node> launches = new HashSet<>();
  private final Set<Scope> sure = new LinkedHashSet<>();
  private final Map<String, List<Scope>> scopesAt = new HashMap<>();
  private final Map<Scope, List<Node>> exitsOf = new HashMap<>();

  private Entry(Program program, String name) {
    this.program = program;
    this.name = name;
    for (Call call : program.calls()) {
      callsOf.computeIfAbsent(call.scope(), _ -> new ArrayList<>()).add(call);
    }
    for (Launch launch : program.launches()) launches.add(launch.call().node());
    for (Scope scope : program.scopes()) {
      scopesAt.computeIfAbsent(scope.path(), _ -> new ArrayList<>()).add(scope);
    }
    follow();
  }

  /** Empty for a file that is checked without a task, or whose entry cannot be told. */
  static Optional<Entry> of(Subject subject) {
    Program program = subject.program();
    for (Task task : subject.task().stream().toList()) {
      for (String name : List.of(task.entry(), Task.COMMON_ENTRY)) {
        if (!program.paths(name).isEmpty()) return Optional.of(new Entry(program, name));
      }
    }
    return Optional.empty();
  }

  private void follow() {
    Deque<Scope> open = new ArrayDeque<>();
    definition("@" + name).ifPresent(open::add);
    if (program.paths(name).size() != 1) open.clear();
    while (!open.isEmpty()) {
      Scope scope = open.pop();
      if (!sure.add(scope)) continue;
      for (Call call : surelyCalledIn(scope)) {
        if (call.targets().size() == 1) {
          definition(call.targets().iterator().next()).ifPresent(open::add);
        }
      }
    }
  }

  /** The one plain function of that path; empty if something is wrapped around it. */
  private Optional<Scope> definition(String path) {
    List<Scope> scopes = scopesAt.getOrDefault(path, List.of());
    return scopes.stream()
        .filter(_ -> scopes.size() == 1)
        .findFirst()
        .filter(scope -> scope.kind() == Scope.Kind.FUNCTION && scope.decorators().isEmpty());
  }

  /** Calls that every call of the entry makes, unless one of its arguments is trivial. */
  List<Call> sureCalls() {
    List<Call> found = new ArrayList<>();
    for (Scope scope : sure) found.addAll(surelyCalledIn(scope));
    return found;
  }

  /** Whether a node is evaluated by every call of the entry, but for trivial arguments. */
  boolean sure(Node node) {
    Scope scope = program.scopeOf(node);
    return sure.contains(scope) && surelyIn(scope, node);
  }

  /** Nodes of a kind that every call of the entry evaluates. */
  List<Node> sureNodes(String kind) {
    List<Node> found = new ArrayList<>();
    for (Scope scope : sure) {
      for (Node node : scope.node().all()) {
        if (node.is(kind) && program.scopeOf(node).equals(scope) && surelyIn(scope, node))
          found.add(node);
      }
    }
    return found;
  }

  /** Scopes that a call of the entry may run. */
  Set<Scope> possible() {
    return program.reachable(name);
  }

  /** Paths of what the entry may be. */
  Set<String> paths() {
    return program.paths(name);
  }

  /** Where the entry is defined; the file's first line if it is bound otherwise. */
  Place place() {
    for (Scope scope : scopesAt.getOrDefault("@" + name, List.of())) {
      Node title = scope.node().child("name");
      if (title != null) return program.place(title);
    }
    return new Place(1, 1, 1, "");
  }

  private List<Call> surelyCalledIn(Scope scope) {
    return callsOf.getOrDefault(scope, List.of()).stream()
        .filter(call -> call.node().is("call") && surelyIn(scope, call.node()))
        .toList();
  }

  private boolean surelyIn(Scope scope, Node node) {
    if (program.inside(node, CONDITIONS)) return false;
    for (Node exit : exits(scope)) {
      if (exit.start() < node.start() && mayLaunch(scope, exit)) return false;
    }
    return true;
  }

  /** Conditional statements of a scope in which it may return. */
  private List<Node> exits(Scope scope) {
    return exitsOf.computeIfAbsent(
        scope,
        _ -> {
          List<Node> found = new ArrayList<>();
          for (Node node : scope.node().all()) {
            if (!node.is("return_statement") || !program.scopeOf(node).equals(scope)) continue;
            outermost(scope, node).ifPresent(found::add);
          }
          return found;
        });
  }

  private Optional<Node> outermost(Scope scope, Node node) {
    Node found = null;
    Node at = program.parent(node).orElse(null);
    while (at != null && !at.equals(scope.node())) {
      if (at.is(CONDITIONS)) found = at;
      at = program.parent(at).orElse(null);
    }
    return Optional.ofNullable(found);
  }

  /** A kernel may be launched within a statement, by it or by a function that it calls. */
  private boolean mayLaunch(Scope scope, Node statement) {
    for (Call call : program.calls()) {
      boolean within =
          call.scope().within(scope)
              && statement.start() <= call.node().start()
              && call.node().end() <= statement.end();
      if (!within) continue;
      if (launches.contains(call.node()) || call.targets().isEmpty()) return true;
      for (String target : call.targets()) {
        if (target.startsWith("@") || target.equals("?") || target.endsWith("()")) return true;
      }
    }
    return false;
  }
}
