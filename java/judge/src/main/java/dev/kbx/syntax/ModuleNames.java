package dev.kbx.syntax;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.Set;

/** The names that a module binds, and those that it uses without binding them. */
final class ModuleNames {
  /**
   * Code that uses one of these may bind any name at run time: through the module's dictionary or
   * code in strings.
   */
  private static final Set<String> DYNAMIC =
      Set.of(
          "exec",
          "eval",
          "compile",
          "globals",
          "locals",
          "vars",
          "setattr",
          "getattr",
          "builtins",
          "__builtins__",
          "__import__",
          "import_module",
          "modules",
          "__dict__",
          "__globals__",
          "__getattr__",
          "__setattr__",
          "f_globals",
          "f_locals",
          "_getframe",
          "currentframe");

  private static final String[] IMPORTS = {
    "import_statement", "import_from_statement", "future_import_statement"
  };

  private final Utf8 source;
  private final Set<String> top = new LinkedHashSet<>();
  private final Set<String> anywhere = new HashSet<>();
  private final Set<String> used = new HashSet<>();
  private boolean dynamic;

  /** A node to visit. */
  private record Visit(Node node, boolean atTop) {}

  ModuleNames(Node module, Utf8 source) {
    this.source = source;
    Deque<Visit> open = new ArrayDeque<>();
    open.push(new Visit(module, true));
    while (!open.isEmpty()) {
      Visit visit = open.pop();
      Node node = visit.node;
      look(node, visit.atTop);
      if (node.is(IMPORTS)) continue;
      boolean scope = node.is("function_definition", "class_definition", "lambda");
      for (Node child : node.children().reversed()) {
        // Defaults and decorators are evaluated outside.
        boolean inside = scope && "body".equals(child.field());
        if (!isAttribute(node, child)) open.push(new Visit(child, visit.atTop && !inside));
      }
    }
  }

  /** Names bound at top level, in order: by def, class, assignment, import, for, with, …. */
  Set<String> top() {
    return top;
  }

  /** Names used that nothing in the source binds, builtins among them. */
  Set<String> free() {
    Set<String> free = new HashSet<>(used);
    free.removeAll(anywhere);
    return free;
  }

  boolean dynamic() {
    return dynamic;
  }

  private boolean isAttribute(Node parent, Node child) {
    boolean attribute = parent.is("attribute") && "attribute".equals(child.field());
    if (attribute && DYNAMIC.contains(source.text(child))) dynamic = true;
    return attribute || (parent.is("keyword_argument") && "name".equals(child.field()));
  }

  private void look(Node node, boolean atTop) {
    switch (node.kind()) {
      case "function_definition", "class_definition", "named_expression" ->
          bindRole(node, "name", atTop);
      case "assignment" -> {
        if (node.child("right") != null) bindRole(node, "left", atTop);
      }
      case "augmented_assignment", "for_statement", "type_alias_statement", "for_in_clause" ->
          bindRole(node, "left", atTop && !node.is("for_in_clause"));
      case "as_pattern_target", "case_pattern" -> bindTargets(node, atTop);
      case "parameters", "lambda_parameters" -> bindParameters(node);
      case "global_statement" -> bindTargets(node, true);
      case "import_statement", "import_from_statement", "future_import_statement" ->
          bindImports(node, atTop);
      case "identifier" -> {
        used.add(source.text(node));
        if (DYNAMIC.contains(source.text(node))) dynamic = true;
      }
      default -> {}
    }
  }

  private void bind(String name, boolean atTop) {
    anywhere.add(name);
    if (atTop) top.add(name);
  }

  private void bindRole(Node node, String role, boolean atTop) {
    Node target = node.child(role);
    if (target != null) bindTargets(target, atTop);
  }

  private void bindTargets(Node target, boolean atTop) {
    for (Node node : BindingTargets.of(target)) {
      if (node.is("identifier")) bind(source.text(node), atTop);
    }
  }

  private void bindParameters(Node parameters) {
    for (Node parameter : parameters.children()) {
      Node name = parameter.child("name");
      if (name != null) bindTargets(name, false);
      else if (parameter.is("typed_parameter")) bindTargets(parameter.children().getFirst(), false);
      else if (!parameter.is("default_parameter")) bindTargets(parameter, false);
    }
  }

  private void bindImports(Node statement, boolean atTop) {
    if (statement.children().stream().anyMatch(c -> c.is("wildcard_import"))) dynamic = true;
    for (Node name : BindingTargets.ofImport(statement)) bind(source.text(name), atTop);
  }
}
