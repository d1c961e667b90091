package dev.kbx.syntax;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * A top-level function with everything of its module that it needs: imports, constants and other
 * functions, in the module's order.
 *
 * @param text Python source that defines the function
 * @param calls full names of what is called in it by dotted name, imports resolved: {@code
 *     torch.nn.functional.gelu}
 * @param methods names of methods of values that are called in it
 * @param multiplies whether the operator {@code @} occurs in it
 */
public record Excerpt(String text, Set<String> calls, Set<String> methods, boolean multiplies) {
  public Excerpt {
    calls = Set.copyOf(calls);
    methods = Set.copyOf(methods);
  }

  /** A top-level statement, the names it binds and the names it needs from others. */
  private record Part(Node node, Set<String> binds, Set<String> needs) {}

  /** Empty where the module has no function of that name. */
  static Excerpt of(String function, Node module, Utf8 source) {
    List<Part> parts = parts(module, source);
    Set<String> wanted = new HashSet<>();
    Deque<String> open = new ArrayDeque<>(List.of(function));
    while (!open.isEmpty()) {
      String name = open.pop();
      if (!wanted.add(name)) continue;
      parts.stream().filter(p -> p.binds.contains(name)).forEach(p -> open.addAll(p.needs));
    }
    List<Part> chosen =
        parts.stream().filter(p -> p.binds.stream().anyMatch(wanted::contains)).toList();
    Set<String> calls = new TreeSet<>();
    Set<String> methods = new TreeSet<>();
    findCalls(chosen, parts, source, calls, methods);
    boolean multiplies =
        chosen.stream().flatMap(part -> part.node.all().stream()).anyMatch(Excerpt::isProduct);
    return new Excerpt(text(chosen, source), calls, methods, multiplies);
  }

  private static boolean isProduct(Node node) {
    if (!node.is("binary_operator", "augmented_assignment")) return false;
    Node operator = node.child("operator");
    return operator != null && operator.is("@", "@=");
  }

  private static List<Part> parts(Node module, Utf8 source) {
    List<Part> parts = new ArrayList<>();
    for (Node statement : module.children()) {
      ModuleNames names = new ModuleNames(statement, source);
      parts.add(new Part(statement, names.top(), names.free()));
    }
    return parts;
  }

  private static String text(List<Part> parts, Utf8 source) {
    StringBuilder text = new StringBuilder();
    Node before = null;
    for (Part part : parts) {
      if (before != null) text.append("\n".repeat(gap(before, part.node)));
      text.append(source.text(part.node));
      before = part.node;
    }
    return text.append(text.isEmpty() ? "" : "\n").toString();
  }

  /** Line breaks between two statements, as in formatted code. */
  private static int gap(Node before, Node after) {
    if (isDefinition(before) || isDefinition(after)) return 3;
    return isImport(before) == isImport(after) ? 1 : 2;
  }

  private static boolean isDefinition(Node node) {
    return node.is("function_definition", "decorated_definition", "class_definition");
  }

  private static boolean isImport(Node node) {
    return node.is("import_statement", "import_from_statement", "future_import_statement");
  }

  private static void findCalls(
      List<Part> chosen, List<Part> all, Utf8 source, Set<String> calls, Set<String> methods) {
    Map<String, String> imported = new HashMap<>();
    for (Part part : all) if (isImport(part.node)) addImports(part.node, source, imported);
    for (Part part : chosen) {
      for (Node node : part.node.all()) {
        Node callee = node.is("call") ? node.child("function") : null;
        if (callee == null || !callee.is("attribute", "identifier")) continue;
        String name = source.text(callee);
        int dot = name.indexOf('.');
        String head = imported.get(dot < 0 ? name : name.substring(0, dot));
        if (head != null) calls.add(dot < 0 ? head : head + name.substring(dot));
        else if (dot >= 0) methods.add(name.substring(name.lastIndexOf('.') + 1));
      }
    }
  }

  /** Adds the full name of each name that an import binds. */
  private static void addImports(Node statement, Utf8 source, Map<String, String> imported) {
    Node from = statement.child("module_name");
    String prefix = from == null ? "" : source.text(from) + ".";
    for (Node child : statement.children()) {
      if (!"name".equals(child.field())) continue;
      Node alias = child.child("alias");
      Node name = child.child("name");
      String full = source.text(name == null ? child : name);
      if (alias != null) imported.put(source.text(alias), prefix + full);
      else if (from != null) imported.put(full, prefix + full);
      else imported.put(full.split("\\.", 2)[0], full.split("\\.", 2)[0]);
    }
  }
}
