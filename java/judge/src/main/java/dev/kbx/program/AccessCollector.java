package dev.kbx.program;

import dev.kbx.program.AbstractValue.External;
import dev.kbx.program.Access.Kind;
import dev.kbx.syntax.Node;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** Lists what a program reads, binds and deletes of other modules and of unknown values. */
final class AccessCollector {
  private final ValueFlow flow;

  AccessCollector(ValueFlow flow) {
    this.flow = flow;
  }

  List<Access> accesses() {
    Set<Access> found = new LinkedHashSet<>();
    for (Node node : flow.nodes()) {
      switch (node.kind()) {
        case "import_statement", "import_from_statement" -> imports(node, found);
        case "attribute", "identifier" -> use(node, found);
        case "subscript" -> element(node, found);
        default -> {}
      }
      for (ValueFlow.Effect effect : flow.effects(node))
        add(effect.path(), effect.kind(), node, found);
    }
    return List.copyOf(found);
  }

  /** {@code sys.modules["torch"]}, {@code os.environ["X"] = y}, {@code vars(torch)["mm"]}. */
  private void element(Node node, Set<Access> found) {
    Node parent = flow.parent(node);
    Node object = node.child("value");
    if (parent == null || object == null) return;
    Kind kind = kind(node, parent);
    boolean dictionary = false;
    for (AbstractValue owner : flow.valuesOf(object).values) {
      if (owner instanceof AbstractValue.ObjectDict || owner instanceof External) dictionary = true;
      if (kind != Kind.READ && owner instanceof External external && !external.unknown()) {
        add(external.element().path(), kind, node, found);
      }
    }
    if (!dictionary) return;
    for (AbstractValue value : flow.valuesOf(node).values) {
      boolean named = value instanceof External(String path) && !path.endsWith("[]");
      if (named && !((External) value).path().equals("?")) {
        add(((External) value).path(), kind, node, found);
      }
    }
  }

  private void imports(Node node, Set<Access> found) {
    Node module = node.child("module_name");
    String prefix = module == null ? "" : flow.text(module) + ".";
    for (Node child : node.children()) {
      if (child.is("wildcard_import")) add(prefix + "?", Kind.READ, node, found);
      if (!"name".equals(child.field())) continue;
      Node name = child.child("name");
      add(prefix + flow.text(name == null ? child : name), Kind.READ, node, found);
    }
  }

  /** An assignment binds the owner's attribute; the attribute's old value does not change. */
  private void changed(Node node, Kind kind, Set<Access> found) {
    Node object = node.child("object");
    Node name = node.child("attribute");
    if (object == null || name == null) return;
    for (AbstractValue owner : flow.valuesOf(object).values) {
      if (owner instanceof External external) {
        add(external.attribute(flow.text(name)).path(), kind, node, found);
      }
    }
  }

  private void use(Node node, Set<Access> found) {
    Node parent = flow.parent(node);
    if (parent == null || !isExpression(node, parent)) return;
    Kind kind = kind(node, parent);
    if (node.is("identifier") && kind != Kind.READ) return;
    if (node.is("attribute") && kind != Kind.READ) {
      changed(node, kind, found);
      return;
    }
    boolean prefix = parent.is("attribute") && "object".equals(node.field());
    for (String path : flow.paths(flow.valuesOf(node))) {
      if (path.startsWith("@") || path.equals("?")) continue;
      if (prefix && !path.startsWith("?")) continue;
      boolean made = path.endsWith("()") || path.endsWith("[]");
      if (made && node.is("identifier")) continue;
      add(path, kind, node, found);
    }
  }

  /** False for the name of an attribute, a parameter, a keyword or an import. */
  private static boolean isExpression(Node node, Node parent) {
    if (!node.is("identifier")) return true;
    return switch (parent.kind()) {
      case "attribute" -> !"attribute".equals(node.field());
      case "typed_parameter" -> "type".equals(node.field());
      case "keyword_argument", "default_parameter", "typed_default_parameter" ->
          !"name".equals(node.field());
      case "function_definition", "class_definition", "dotted_name", "parameters" -> false;
      case "lambda_parameters", "global_statement", "nonlocal_statement" -> false;
      case "list_splat_pattern", "dictionary_splat_pattern", "aliased_import" -> false;
      default -> true;
    };
  }

  private Kind kind(Node node, Node parent) {
    Node at = node;
    Node above = parent;
    while (above != null && above.is("pattern_list", "tuple_pattern", "list_pattern")) {
      at = above;
      above = flow.parent(above);
    }
    if (above == null) return Kind.READ;
    boolean target =
        above.is("assignment", "augmented_assignment", "for_statement", "for_in_clause")
            && "left".equals(at.field());
    if (target || above.is("as_pattern_target")) return Kind.WRITE;
    return above.is("delete_statement") ? Kind.DELETE : Kind.READ;
  }

  private void add(String path, Kind kind, Node node, Set<Access> found) {
    found.add(new Access(path, kind, node, flow.place(node), flow.scopeOf(node)));
  }
}
