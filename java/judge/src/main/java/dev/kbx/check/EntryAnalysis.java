package dev.kbx.check;

import dev.kbx.program.Call;
import dev.kbx.program.Launch;
import dev.kbx.program.Program;
import dev.kbx.program.Scope;
import dev.kbx.syntax.Node;
import dev.kbx.syntax.Place;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Which code every call of the entry runs, and which it may run.
 *
 * <p>Every call runs what stands outside of conditions, loops and {@code try}, in the entry or in a
 * function that every call runs, unless an earlier branch may return what a kernel has computed.
 */
final class EntryAnalysis {
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
  private final ScopeIndex functions;
  private final String name;
  private final Set<Scope> sure = new LinkedHashSet<>();

  /** The outermost condition around a call or operator of the file in its scope, or null. */
  private final Map<Node, @Nullable Node> outermost = new HashMap<>();

  /** The position in a scope after which a kernel may have computed the result already. */
  private final Map<Scope, Integer> barred = new HashMap<>();

  /** Start positions of calls that may launch a kernel. */
  private final NavigableSet<Integer> suspects = new TreeSet<>();

  EntryAnalysis(Program program, ScopeIndex functions, String name) {
    this.program = program;
    this.functions = functions;
    this.name = name;
    for (Call call : program.calls()) if (suspect(call)) suspects.add(call.node().start());
    for (Launch launch : program.launches()) suspects.add(launch.call().node().start());
    layOut();
    follow();
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

  /** The undecorated function of that path; empty if there are several or none. */
  private Optional<Scope> definition(String path) {
    List<Scope> scopes = functions.at(path);
    return scopes.stream()
        .filter(_ -> scopes.size() == 1)
        .findFirst()
        .filter(scope -> scope.kind() == Scope.Kind.FUNCTION && scope.decorators().isEmpty());
  }

  /** Calls that every call of the entry makes, except for trivial arguments. */
  List<Call> sureCalls() {
    List<Call> found = new ArrayList<>();
    for (Scope scope : sure) found.addAll(surelyCalledIn(scope));
    return found;
  }

  /** Whether every call of the entry evaluates a node, except for trivial arguments. */
  boolean sure(Node node) {
    Scope scope = program.scopeOf(node);
    return sure.contains(scope) && surelyIn(scope, node);
  }

  /** Calls or operators, by kind, that every call of the entry evaluates; in any order. */
  List<Node> sureNodes(String kind) {
    List<Node> found = new ArrayList<>();
    for (Node node : outermost.keySet()) if (node.is(kind) && sure(node)) found.add(node);
    return found;
  }

  /** Scopes that a call of the entry may run. */
  Set<Scope> possible() {
    return program.reachable(name);
  }

  /** Paths that the entry may have. */
  Set<String> paths() {
    return program.paths(name);
  }

  /** Where the entry is defined; the file's first line if it is bound otherwise. */
  Place place() {
    for (Scope scope : functions.at("@" + name)) {
      Node title = scope.node().child("name");
      if (title != null) return program.place(title);
    }
    return new Place(1, 1, 1, "");
  }

  private List<Call> surelyCalledIn(Scope scope) {
    return functions.callsIn(scope).stream()
        .filter(call -> call.node().is("call") && surelyIn(scope, call.node()))
        .toList();
  }

  private boolean surelyIn(Scope scope, Node node) {
    if (!outermost.containsKey(node)) return false;
    Node condition = outermost.get(node);
    return condition == null && node.start() < barred.getOrDefault(scope, Integer.MAX_VALUE);
  }

  private record Visit(Node node, Scope scope, @Nullable Node condition) {}

  /** Finds the outermost condition around each node of the file, within its scope, in one walk. */
  private void layOut() {
    Deque<Visit> open = new ArrayDeque<>();
    open.push(new Visit(program.module().node(), program.module(), null));
    while (!open.isEmpty()) {
      Visit visit = open.pop();
      Node node = visit.node;
      Scope scope = program.scopeOf(node);
      Node condition = scope.equals(visit.scope) ? visit.condition : null;
      if (node.is("call", "binary_operator")) outermost.put(node, condition);
      if (node.is("return_statement") && condition != null && mayLaunch(condition)) {
        barred.merge(scope, condition.start(), Math::min);
      }
      if (condition == null && node.is(CONDITIONS)) condition = node;
      for (Node child : node.children()) open.push(new Visit(child, scope, condition));
    }
  }

  /** A kernel may be launched within a statement, by it or by a function that it calls. */
  private boolean mayLaunch(Node statement) {
    Integer next = suspects.ceiling(statement.start());
    return next != null && next < statement.end();
  }

  private static boolean suspect(Call call) {
    return call.targets().isEmpty() || call.target(EntryAnalysis::unread).isPresent();
  }

  /** Whether a call of that path runs code of the file or unknown code. */
  static boolean unread(String path) {
    return path.startsWith("@")
        || path.equals("?")
        || path.endsWith("()")
        || path.endsWith(".apply")
        || (path.startsWith("torch.ops.") && !path.startsWith("torch.ops.aten."));
  }
}
