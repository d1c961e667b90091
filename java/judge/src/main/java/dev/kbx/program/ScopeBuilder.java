package dev.kbx.program;

import dev.kbx.program.Resolver.Slot;
import dev.kbx.program.Scope.Kind;
import dev.kbx.program.Scope.Parameter;
import dev.kbx.syntax.BindingTargets;
import dev.kbx.syntax.Node;
import dev.kbx.syntax.PythonSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Builds the scopes of a source: the scope of each node, and the names that each scope binds. */
final class ScopeBuilder {
  /** A node with its parent and scope. */
  private record Visit(Node node, @Nullable Node parent, Scope scope) {}

  private final PythonSource source;
  private final Scope module;
  private final Map<Node, Visit> visits = new HashMap<>();
  private final Map<Node, Scope> opened = new HashMap<>();
  private final List<Node> nodes = new ArrayList<>();
  private final List<Scope> scopes = new ArrayList<>();
  private final Set<String> attributes = new HashSet<>();

  ScopeBuilder(PythonSource source, Scope module) {
    this.source = source;
    this.module = module;
    scopes.add(module);
    Deque<Visit> open = new ArrayDeque<>();
    open.push(new Visit(module.node(), null, module));
    while (!open.isEmpty()) {
      Visit visit = open.pop();
      Node node = visit.node;
      if (isPunctuation(node)) continue;
      nodes.add(node);
      visits.put(node, visit);
      Scope inner = opens(node, visit);
      declare(node, visit.scope);
      List<Node> children = node.children();
      for (int i = children.size() - 1; i >= 0; i--) {
        Node child = children.get(i);
        Scope scope = inner != null && "body".equals(child.field()) ? inner : visit.scope;
        open.push(new Visit(child, node, scope));
      }
    }
  }

  /** Nodes in source order. */
  List<Node> nodes() {
    return nodes;
  }

  /** The module first. */
  List<Scope> scopes() {
    return Collections.unmodifiableList(scopes);
  }

  /** Names of attributes that the source defines. */
  Set<String> attributes() {
    return attributes;
  }

  /** The scope that a definition opens; null for every other node. */
  @Nullable Scope defined(Node definition) {
    return opened.get(definition);
  }

  /** The definition that a decorator is applied to; null in broken source. */
  @Nullable Node decorated(Node decorator) {
    Node parent = parent(decorator);
    // The last child, after any number of decorators.
    Node last = parent == null ? null : parent.children().getLast();
    return last != null && "definition".equals(last.field()) ? last : null;
  }

  /** Null for the module and for nodes of other programs. */
  @Nullable Node parent(Node node) {
    Visit visit = visits.get(node);
    return visit == null ? null : visit.parent;
  }

  /** The module for nodes of other programs. */
  Scope scopeOf(Node node) {
    Visit visit = visits.get(node);
    return visit == null ? module : visit.scope;
  }

  private static boolean isPunctuation(Node node) {
    return node.children().isEmpty() && !Character.isLetter(node.kind().charAt(0));
  }

  private @Nullable Scope opens(Node node, Visit visit) {
    Kind kind =
        switch (node.kind()) {
          case "function_definition" -> Kind.FUNCTION;
          case "lambda" -> Kind.LAMBDA;
          case "class_definition" -> Kind.CLASS;
          default -> null;
        };
    // The keyword `lambda` has the same kind as the expression.
    if (kind == null || node.children().isEmpty()) return null;
    Node name = node.child("name");
    String text = name == null ? "<lambda>" : source.text(name);
    Scope scope = new Scope(kind, text, node, visit.scope);
    scopes.add(scope);
    opened.put(node, scope);
    Node parameters = node.child("parameters");
    if (parameters != null) parameters(parameters, scope);
    if (visit.parent != null && visit.parent.is("decorated_definition")) {
      for (Node each : visit.parent.children()) {
        if (each.is("decorator") && each.children().size() > 1) {
          scope.decorators.add(each.children().get(1));
        }
      }
    }
    return scope;
  }

  private void parameters(Node list, Scope scope) {
    for (Node node : list.children()) {
      Node type = node.child("type");
      Node value = node.child("value");
      Node target = node.child("name");
      if (target == null && node.is("typed_parameter")) target = node.children().getFirst();
      if (target == null) target = node;
      int stars = target.is("list_splat_pattern") ? 1 : 0;
      if (target.is("dictionary_splat_pattern")) stars = 2;
      if (stars > 0) target = target.children().getLast();
      if (!target.is("identifier")) continue;
      String name = source.text(target);
      scope.parameters.add(new Parameter(name, stars, node, type, value));
      scope.variables.computeIfAbsent(name, _ -> new Slot());
    }
  }

  /** Adds the names that a node binds to its scope. */
  private void declare(Node node, Scope scope) {
    switch (node.kind()) {
      case "function_definition", "class_definition", "named_expression" ->
          declareRole(node, "name", scope);
      case "assignment", "augmented_assignment", "for_statement", "for_in_clause" ->
          declareRole(node, "left", scope);
      case "type_alias_statement" -> declareRole(node, "left", scope);
      case "as_pattern_target", "case_pattern" -> declareTargets(node, scope);
      case "delete_statement" -> node.children().forEach(each -> declareTargets(each, scope));
      case "global_statement" -> {
        for (Node each : node.children()) {
          if (each.is("identifier")) scope.globals.add(source.text(each));
        }
      }
      case "nonlocal_statement" -> {
        for (Node each : node.children()) {
          if (each.is("identifier")) scope.nonlocals.add(source.text(each));
        }
      }
      case "import_statement", "import_from_statement", "future_import_statement" ->
          declareImports(node, scope);
      default -> {}
    }
  }

  private void declareRole(Node node, String role, Scope scope) {
    Node target = node.child(role);
    if (target != null) declareTargets(target, scope);
  }

  private void declareTargets(Node target, Scope scope) {
    for (Node node : BindingTargets.of(target)) {
      Node attribute = node.child("attribute");
      if (attribute != null) attributes.add(source.text(attribute));
      if (node.is("identifier")) variable(source.text(node), scope);
    }
  }

  private void declareImports(Node statement, Scope scope) {
    Node module = statement.child("module_name");
    for (Node child : statement.children()) {
      if (child.is("wildcard_import") && module != null) scope.stars.add(source.text(module));
    }
    for (Node name : BindingTargets.ofImport(statement)) variable(source.text(name), scope);
  }

  private void variable(String name, Scope scope) {
    scope.variables.computeIfAbsent(name, _ -> new Slot());
    if (scope.kind() == Kind.CLASS) attributes.add(name);
  }
}
