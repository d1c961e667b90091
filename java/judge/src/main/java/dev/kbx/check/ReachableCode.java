package dev.kbx.check;

import dev.kbx.program.Access;
import dev.kbx.program.Call;
import dev.kbx.program.Program;
import dev.kbx.program.Scope;
import dev.kbx.syntax.Node;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The part of a program that may run while kbx judges it: all but the code under {@code if __name__
 * == "__main__"} and the functions that only this code uses. Without a known entry every function
 * counts.
 */
final class ReachableCode {
  private final Program program;
  private final Optional<String> entry;
  private final Map<Node, Boolean> asScript = new HashMap<>();
  private @Nullable Set<Scope> reachable;

  ReachableCode(Program program, Optional<String> entry) {
    this.program = program;
    this.entry = entry;
  }

  /** Reachable calls whose targets match. */
  List<Call> calls(Predicate<String> path) {
    return program.calls().stream()
        .filter(call -> call.target(path).isPresent() && runs(call.node()))
        .toList();
  }

  /** Reachable assignments to matching paths, and deletions of them. */
  List<Access> changes(Predicate<String> path) {
    return accesses(access ->
        access.kind() != Access.Kind.READ && path.test(access.path()) && changesItself(access));
  }

  /** {@code self.act = x} does not change the function that {@code self.act} held before. */
  private boolean changesItself(Access access) {
    Node owner = access.node().is("attribute") ? access.node().child("object") : null;
    Node name = access.node().child("attribute");
    if (owner == null || name == null) return true;
    String suffix = "." + program.text(name);
    return program.paths(owner).stream().anyMatch(of -> access.path().equals(of + suffix));
  }

  /** Reachable uses of matching paths. */
  List<Access> uses(Predicate<String> path) {
    return accesses(access -> path.test(access.path()));
  }

  private List<Access> accesses(Predicate<Access> wanted) {
    return program.accesses().stream().filter(a -> wanted.test(a) && runs(a.node())).toList();
  }

  /** Whether a node may be evaluated. */
  boolean runs(Node node) {
    if (onlyAsScript(node)) return false;
    for (Scope scope = program.scopeOf(node); ; scope = scope.parent().orElseThrow()) {
      if (scope.kind() == Scope.Kind.MODULE) return true;
      if (scope.kind() == Scope.Kind.CLASS) continue;
      return reachable().contains(scope);
    }
  }

  private Set<Scope> reachable() {
    Set<Scope> known = reachable;
    if (known == null) reachable = known = findReachable();
    return known;
  }

  private Set<Scope> findReachable() {
    if (entry.isEmpty()) return Set.copyOf(program.scopes());
    List<String> started = new ArrayList<>(List.of(entry.get()));
    started.addAll(new ImportTime(program, this::onlyAsScript).names());
    return program.reachable(started.toArray(String[]::new));
  }

  /**
   * Whether a node runs only where {@code __name__} is {@code "__main__"}. Results are cached for
   * all ancestors.
   */
  private boolean onlyAsScript(Node node) {
    List<Node> climbed = new ArrayList<>();
    Node at = node;
    while (at != null && !asScript.containsKey(at)) {
      climbed.add(at);
      at = program.parent(at).orElse(null);
    }
    boolean inside = at != null && asScript.getOrDefault(at, false);
    for (Node below : climbed.reversed()) {
      inside = inside || beginsScript(below);
      asScript.put(below, inside);
    }
    return inside;
  }

  private boolean beginsScript(Node node) {
    if (!"consequence".equals(node.field())) return false;
    return program
        .parent(node)
        .filter(parent -> parent.is("if_statement"))
        .map(parent -> parent.child("condition"))
        .filter(this::asksForScript)
        .isPresent();
  }

  private boolean asksForScript(Node condition) {
    String text = program.text(condition).replaceAll("[()\\s]", "").replace('\'', '"');
    return text.equals("__name__==\"__main__\"") || text.equals("\"__main__\"==__name__");
  }

  /** Whether a path is one of the roots or a part of one. */
  static boolean below(String path, String... roots) {
    for (String root : roots) {
      if (path.equals(root)) return true;
      if (path.startsWith(root) && ".([".indexOf(path.charAt(root.length())) >= 0) return true;
    }
    return false;
  }

  /** Whether a path goes through the result of a call or an element of a container. */
  static boolean ofInstance(String path) {
    return path.indexOf('(') >= 0 || path.indexOf('[') >= 0 || path.startsWith("?");
  }

  /** Finds the top-level names of a file whose code runs while the file is imported. */
  private static final class ImportTime {
    private final Program program;
    private final Predicate<Node> skipped;
    private final Set<String> names = new LinkedHashSet<>();

    /** Classes with {@code __init_subclass__}. */
    private final Set<String> hooked = new HashSet<>();

    /**
     * @param skipped whether a node is not evaluated while the file is imported
     */
    ImportTime(Program program, Predicate<Node> skipped) {
      this.program = program;
      this.skipped = skipped;
      for (Scope scope : program.scopes()) {
        if (scope.binds("__init_subclass__")) hooked.add(scope.path());
      }
      for (Call call : program.calls()) if (evaluated(call.node())) called(call);
      for (Scope scope : program.scopes()) {
        if (scope.kind() != Scope.Kind.MODULE) continue;
        for (Node node : scope.node().all()) {
          if (node.is("class_definition", "subscript") && evaluated(node)) special(node);
        }
      }
    }

    Set<String> names() {
      return names;
    }

    private boolean evaluated(Node node) {
      Scope.Kind kind = program.scopeOf(node).kind();
      return (kind == Scope.Kind.MODULE || kind == Scope.Kind.CLASS) && !skipped.test(node);
    }

    /** The function that is called, and functions given as arguments. */
    private void called(Call call) {
      call.targets().forEach(this::started);
      for (Node argument : call.arguments()) program.paths(argument).forEach(this::started);
      for (Node argument : call.keywords().values()) program.paths(argument).forEach(this::started);
    }

    /** Special methods: of subscripted values, metaclasses and classes that have subclasses. */
    private void special(Node node) {
      Node value = node.child("value");
      if (value != null) program.paths(value).forEach(this::started);
      Node bases = node.child("superclasses");
      for (Node base : bases == null ? List.<Node>of() : bases.children()) {
        Node keyword = base.child("value");
        if (base.is("keyword_argument") && keyword != null) {
          program.paths(keyword).forEach(this::started);
        } else {
          program.paths(base).stream().filter(hooked::contains).forEach(this::started);
        }
      }
    }

    private void started(String path) {
      if (path.startsWith("@")) names.add(path.substring(1).split("[.(\\[]", 2)[0]);
    }
  }
}
