package dev.kbx.check;

import dev.kbx.program.Call;
import dev.kbx.program.Program;
import dev.kbx.program.Scope;
import dev.kbx.syntax.Node;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Finds entries that launch nothing once a result is stored and return it again.
 *
 * <p>Stored buffers and prepared weights are honest: every call launches a kernel on them.
 */
final class ReplayedResult implements Rule {
  private static final Set<String> MEMOISERS =
      Set.of("functools.lru_cache", "functools.lru_cache()", "functools.cache");

  private static final Set<String> TENSOR_ATTRIBUTES =
      Set.of("?.contiguous", "?.numel", "?.data_ptr", "?.stride", "?.element_size", "?.reshape");

  @Override
  public RuleInfo info() {
    return new RuleInfo(
        "replayed-result",
        Severity.REJECT,
        "a result that is stored and returned again",
        "Returning a stored result costs nothing in every call but the first. kbx gives"
            + " every call new values, so a stored result is wrong.",
        "launch the kernel in every call; keep buffers and prepared constants, not results",
        """
        results = {}


        def kernel_function(x):
            if x.shape not in results:
                results[x.shape] = launch(x)
            return results[x.shape]
        """);
  }

  @Override
  public void check(RuleContext context, Report report) {
    Program program = context.program();
    if (!program.parsed()) return;
    LaunchAnalysis launching = context.launching();
    List<Call> kept = new ArrayList<>();
    List<Scope> entries = launching.entries();
    Deque<Scope> open = new ArrayDeque<>(entries);
    Set<Scope> seen = new HashSet<>();
    while (!open.isEmpty()) {
      Scope scope = open.pop();
      if (!seen.add(scope)) continue;
      List<Call> sites = launching.sites(scope);
      List<Call> avoidable = avoidable(program, scope, launching);
      boolean memoised = memoised(program, scope, entries.contains(scope));
      if (!sites.isEmpty() && (memoised || avoidable.size() == sites.size())) {
        kept.addAll(sites);
        continue;
      }
      for (Call site : sites) {
        if (launching.direct(site)) return;
        open.addAll(launching.targets(site));
      }
    }
    for (Call site : kept) {
      report.found(
          site.place(),
          "runs only until its result is stored; later calls return the stored result");
    }
  }

  private static List<Call> avoidable(Program program, Scope scope, LaunchAnalysis launching) {
    List<Call> sites = launching.sites(scope);
    if (sites.isEmpty()) return sites;
    PersistentState keeping = new PersistentState(program, scope, launching.unseen(scope));
    Optional<String> place =
        keeping.placesFilledBy(sites).stream()
            .filter(keeping::returns)
            .filter(p -> sites.stream().allMatch(site -> keeping.depends(site.node(), p)))
            .findFirst();
    return place.isPresent() ? sites : List.of();
  }

  /** Whether a decorator such as {@code functools.cache} answers calls with equal arguments. */
  private static boolean memoised(Program program, Scope scope, boolean entry) {
    boolean cached =
        scope.decorators().stream()
            .flatMap(decorator -> program.paths(decorator).stream())
            .anyMatch(MEMOISERS::contains);
    return cached
        && (entry
            || program.accesses().stream()
                .anyMatch(a -> a.scope().equals(scope) && TENSOR_ATTRIBUTES.contains(a.path())));
  }

  /**
   * The state that a function keeps between calls: the variables that outlive a call, what it
   * stores there, and what it returns of that.
   *
   * <p>A variable is named as it is written: {@code results}, {@code self.known}, {@code last}.
   */
  private static final class PersistentState {
    private static final Set<String> READERS = Set.of("get", "pop", "setdefault");
    private static final Set<String> WRITERS = Set.of("append", "setdefault", "update", "add");

    private final Program program;
    private final Scope scope;
    private final List<Node> nodes;

    /** Parameters whose default outlives the call. */
    private final Set<String> defaults = new HashSet<>();

    private final Map<String, Set<String>> taken = new HashMap<>();
    private final Map<String, List<Node>> stored = new HashMap<>();
    private final Map<String, List<Node>> assigned = new HashMap<>();

    /** Variables given to calls that may launch a kernel on them. */
    private final Set<Node> handed = new HashSet<>();

    /**
     * @param unseen calls in the scope whose effect on their arguments is unknown
     */
    PersistentState(Program program, Scope scope, List<Call> unseen) {
      this.program = program;
      this.scope = scope;
      for (Call call : unseen) {
        call.arguments().forEach(this::hand);
        call.keywords().values().forEach(this::hand);
      }
      nodes = scope.node().all().stream().filter(n -> program.scopeOf(n).equals(scope)).toList();
      declare();
      for (Node node : nodes) note(node);
    }

    private void hand(Node argument) {
      Deque<Node> open = new ArrayDeque<>(List.of(argument));
      while (!open.isEmpty()) {
        Node node = open.pop();
        if (handed.add(node)) open.addAll(node.children());
      }
    }

    private void declare() {
      for (Scope.Parameter parameter : scope.parameters()) {
        Node value = parameter.value();
        if (value != null && value.is("dictionary", "list", "call")) defaults.add(parameter.name());
      }
      for (Node node : nodes) {
        Node left = node.is("assignment") ? node.child("left") : null;
        if (left != null && left.is("identifier")) defaults.remove(program.text(left));
      }
    }

    private boolean local(String name) {
      return scope.binds(name) && !defaults.contains(name);
    }

    private void note(Node node) {
      if (node.is("assignment")) noteAssignment(node);
      if (node.is("named_expression")) {
        Node name = node.child("name");
        Node value = node.child("value");
        if (name != null && value != null) noteTaken(name, value);
      }
      if (node.is("for_statement")) {
        Node left = node.child("left");
        Node right = node.child("right");
        if (left != null && right != null && left.is("identifier") && persistent(right)) {
          taken(program.text(left), program.text(right));
        }
      }
      Node container = node.is("call") ? receiver(node, WRITERS) : null;
      Node arguments = node.child("arguments");
      if (container != null && arguments != null && persistent(container)) {
        store(program.text(container), arguments);
      }
    }

    private void noteAssignment(Node node) {
      Node left = node.child("left");
      Node right = node.child("right");
      if (left == null || right == null) return;
      Node value = right;
      while (value.is("assignment")) {
        Node next = value.child("right");
        if (next == null) return;
        value = next;
      }
      Node container = left.is("subscript") ? left.child("value") : null;
      if (container != null && persistent(container)) store(program.text(container), value);
      if (left.is("attribute")) store(program.text(left), value);
      if (left.is("pattern_list", "tuple_pattern", "list_pattern")) {
        for (Node each : left.children()) if (each.is("identifier")) noteTaken(each, value);
      }
      if (!left.is("identifier")) return;
      String name = program.text(left);
      assigned.computeIfAbsent(name, _ -> new ArrayList<>()).add(value);
      if (!scope.binds(name)) store(name, value);
      noteTaken(left, value);
      if (right.is("assignment")) {
        Node inner = right.child("left");
        Node kept = inner != null && inner.is("subscript") ? inner.child("value") : null;
        if (kept != null && persistent(kept)) taken(name, program.text(kept));
      }
    }

    private void noteTaken(Node name, Node value) {
      for (Node part : value.all()) {
        String place = place(part);
        if (place != null && !handed.contains(part)) taken(program.text(name), place);
      }
    }

    private void store(String place, Node value) {
      stored.computeIfAbsent(place, _ -> new ArrayList<>()).add(value);
    }

    private void taken(String name, String place) {
      taken.computeIfAbsent(place, _ -> new HashSet<>()).add(name);
    }

    /** Variables that store what one of these calls returns or fills. */
    List<String> placesFilledBy(List<Call> sites) {
      List<String> places = new ArrayList<>();
      stored.forEach((place, values) -> {
        if (values.stream().anyMatch(value -> madeBy(value, sites, true))) places.add(place);
      });
      return places;
    }

    private boolean madeBy(Node value, List<Call> sites, boolean follow) {
      for (Node part : value.all()) {
        for (Call site : sites) if (site.node().equals(part)) return true;
        if (!follow || !part.is("identifier") || !local(program.text(part))) continue;
        for (Node made : assigned.getOrDefault(program.text(part), List.of())) {
          if (madeBy(made, sites, false)) return true;
        }
        if (filled(program.text(part), sites)) return true;
      }
      return false;
    }

    /** Whether a local variable is an argument of one of these calls. */
    private boolean filled(String name, List<Call> sites) {
      if (!assigned.containsKey(name)) return false;
      return sites.stream()
          .flatMap(site -> site.arguments().stream())
          .anyMatch(argument -> argument.is("identifier") && program.text(argument).equals(name));
    }

    /** Whether the function returns an unchanged value of such a variable. */
    boolean returns(String place) {
      return nodes.stream()
          .filter(n -> n.is("return_statement"))
          .anyMatch(n -> mentions(n, place, handed));
    }

    /** Whether the value of such a variable decides if a node is evaluated. */
    boolean depends(Node node, String place) {
      Node below = node;
      for (@Nullable Node at = program.parent(node).orElse(null);
          at != null && !at.equals(scope.node());
          below = at, at = program.parent(at).orElse(null)) {
        if (decides(at, below, place)) return true;
      }
      return nodes.stream()
          .filter(n -> n.is("return_statement") && n.end() <= node.start() && mentions(n, place))
          .anyMatch(n -> program.inside(n, "if_statement", "for_statement", "try_statement"));
    }

    private boolean decides(Node at, Node below, String place) {
      if (at.is("if_statement", "elif_clause")) {
        Node condition = at.child("condition");
        return condition != null && !condition.equals(below) && mentions(condition, place);
      }
      if (at.is("try_statement")) {
        Node body = at.child("body");
        return below.is("except_clause") && body != null && mentions(body, place);
      }
      return at.is("conditional_expression", "boolean_operator") && mentions(at, place);
    }

    /** Whether a node uses the variable or a copy of it. */
    private boolean mentions(Node node, String place) {
      return mentions(node, place, Set.of());
    }

    private boolean mentions(Node node, String place, Set<Node> except) {
      Set<String> names = taken.getOrDefault(place, Set.of());
      for (Node part : node.all()) {
        if (!part.is("identifier", "attribute") || except.contains(part)) continue;
        String text = program.text(part);
        if (text.equals(place) || (part.is("identifier") && names.contains(text))) return true;
      }
      // hasattr(function, "results") asks for function.results
      int dot = place.lastIndexOf('.');
      String asked = dot < 0 ? place : place.substring(dot + 1);
      return program.text(node).contains("hasattr")
          && program.text(node).contains('"' + asked + '"');
    }

    /** The variable that an expression reads from; null if there is none. */
    private @Nullable String place(Node node) {
      Node container =
          node.is("subscript")
              ? node.child("value")
              : node.is("call") ? receiver(node, READERS) : null;
      return container != null && persistent(container) ? program.text(container) : null;
    }

    private @Nullable Node receiver(Node call, Set<String> methods) {
      Node function = call.child("function");
      if (function == null || !function.is("attribute")) return null;
      Node name = function.child("attribute");
      return name != null && methods.contains(program.text(name)) ? function.child("object") : null;
    }

    private boolean persistent(Node container) {
      return container.is("attribute")
          || (container.is("identifier") && !local(program.text(container)));
    }
  }
}
