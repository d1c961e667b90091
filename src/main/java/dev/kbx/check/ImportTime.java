package dev.kbx.check;

import dev.kbx.program.Call;
import dev.kbx.program.Program;
import dev.kbx.program.Scope;
import dev.kbx.syntax.Node;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;

/** Finds the top-level names of a file whose code runs while the file is imported. */
final class ImportTime {
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
