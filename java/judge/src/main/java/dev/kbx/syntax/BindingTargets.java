package dev.kbx.syntax;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/** Finds the names and attributes that statements bind. */
public final class BindingTargets {
  private BindingTargets() {}

  /**
   * Identifiers that a target or pattern binds, and attributes that it sets, in source order. The
   * object of {@code a.b} and {@code a[b]} is not bound.
   */
  public static List<Node> of(Node target) {
    List<Node> bound = new ArrayList<>();
    Deque<Node> open = new ArrayDeque<>();
    open.push(target);
    while (!open.isEmpty()) {
      Node node = open.pop();
      if (node.is("identifier", "attribute")) bound.add(node);
      if (node.is("attribute", "subscript", "call", "type_parameter")) continue;
      // In `case a.b` the dotted name is a value; in `case a` it is a capture.
      if (node.is("dotted_name") && node.children().size() > 1) continue;
      // `case Point(x=a)`: neither the class nor the attribute is bound.
      int first = node.is("class_pattern", "keyword_pattern") ? 1 : 0;
      for (Node child : node.children().stream().skip(first).toList().reversed()) open.push(child);
    }
    return bound;
  }

  /** The names that an import binds, without those of a star import. */
  public static List<Node> ofImport(Node statement) {
    List<Node> bound = new ArrayList<>();
    boolean from = !statement.is("import_statement");
    for (Node child : statement.children()) {
      if (!"name".equals(child.field())) continue;
      Node alias = child.child("alias");
      List<Node> path = child.children();
      if (alias != null) bound.add(alias);
      // `import a.b` binds a; `from c import a` binds a.
      else if (!path.isEmpty()) bound.add(from ? path.getLast() : path.getFirst());
    }
    return bound;
  }
}
