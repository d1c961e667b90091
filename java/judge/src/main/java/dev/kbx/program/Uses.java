package dev.kbx.program;

import dev.kbx.program.Access.Kind;
import dev.kbx.program.Value.External;
import dev.kbx.program.Value.ObjectDict;
import dev.kbx.syntax.Node;
import dev.kbx.syntax.PythonSource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Lists the calls of a program, and what it reads, binds and deletes of other modules. */
final class Uses {
  private final PythonSource source;
  private final ScopeBuilder scopes;
  private final Resolver resolver;

  Uses(PythonSource source, ScopeBuilder scopes, Resolver resolver) {
    this.source = source;
    this.scopes = scopes;
    this.resolver = resolver;
  }

  /** Every call and every applied decorator, in source order. */
  List<Call> calls() {
    List<Call> calls = new ArrayList<>();
    for (Node node : scopes.nodes()) {
      Node function = node.child("function");
      if (node.is("call") && function != null) {
        calls.add(call(node, function, node.child("arguments")));
      }
      if (node.is("decorator") && node.children().size() > 1) {
        Node definition = scopes.decorated(node);
        List<Node> given = definition == null ? List.of() : List.of(definition);
        calls.add(call(node, node.children().get(1), given, Map.of()));
      }
    }
    return List.copyOf(calls);
  }

  private Call call(Node node, Node function, @Nullable Node list) {
    List<Node> arguments = new ArrayList<>();
    Map<String, Node> keywords = new LinkedHashMap<>();
    List<Node> given = list == null ? List.of() : list.children();
    if (list != null && !list.is("argument_list")) given = List.of(list);
    for (Node each : given) {
      if (each.is("(", ")", ",", "dictionary_splat")) continue;
      Node name = each.child("name");
      Node value = each.child("value");
      if (each.is("keyword_argument") && name != null && value != null) {
        keywords.put(source.text(name), value);
      } else {
        arguments.add(each);
      }
    }
    return call(node, function, arguments, keywords);
  }

  private Call call(Node node, Node function, List<Node> arguments, Map<String, Node> keywords) {
    Set<String> targets = Value.paths(resolver.valuesOf(function));
    return new Call(node, source.place(node), scopes.scopeOf(node), targets, arguments, keywords);
  }

  /** Every read, binding and deletion of other modules' values, in source order. */
  List<Access> accesses() {
    Set<Access> found = new LinkedHashSet<>();
    for (Node node : scopes.nodes()) {
      switch (node.kind()) {
        case "import_statement", "import_from_statement" -> imports(node, found);
        case "attribute", "identifier" -> use(node, found);
        case "subscript" -> element(node, found);
        default -> {}
      }
      for (Resolver.Effect effect : resolver.effects(node))
        add(effect.path(), effect.kind(), node, found);
    }
    return List.copyOf(found);
  }

  /** {@code sys.modules["torch"]}, {@code os.environ["X"] = y}, {@code vars(torch)["mm"]}. */
  private void element(Node node, Set<Access> found) {
    Node parent = scopes.parent(node);
    Node object = node.child("value");
    if (parent == null || object == null) return;
    Kind kind = kind(node, parent);
    boolean dictionary = false;
    for (Value owner : resolver.valuesOf(object)) {
      if (owner instanceof ObjectDict || owner instanceof External) dictionary = true;
      if (kind != Kind.READ && owner instanceof External external && !external.unknown()) {
        add(external.element().path(), kind, node, found);
      }
    }
    if (!dictionary) return;
    for (Value value : resolver.valuesOf(node)) {
      boolean named = value instanceof External(String path) && !path.endsWith("[]");
      if (named && !((External) value).path().equals("?")) {
        add(((External) value).path(), kind, node, found);
      }
    }
  }

  private void imports(Node node, Set<Access> found) {
    Node module = node.child("module_name");
    String prefix = module == null ? "" : source.text(module) + ".";
    for (Node child : node.children()) {
      if (child.is("wildcard_import")) add(prefix + "?", Kind.READ, node, found);
      if (!"name".equals(child.field())) continue;
      Node name = child.child("name");
      add(prefix + source.text(name == null ? child : name), Kind.READ, node, found);
    }
  }

  /** An assignment binds the owner's attribute; the attribute's old value does not change. */
  private void changed(Node node, Kind kind, Set<Access> found) {
    Node object = node.child("object");
    Node name = node.child("attribute");
    if (object == null || name == null) return;
    for (Value owner : resolver.valuesOf(object)) {
      if (owner instanceof External external) {
        add(external.attribute(source.text(name)).path(), kind, node, found);
      }
    }
  }

  private void use(Node node, Set<Access> found) {
    Node parent = scopes.parent(node);
    if (parent == null || !isExpression(node, parent)) return;
    Kind kind = kind(node, parent);
    if (node.is("identifier") && kind != Kind.READ) return;
    if (node.is("attribute") && kind != Kind.READ) {
      changed(node, kind, found);
      return;
    }
    boolean prefix = parent.is("attribute") && "object".equals(node.field());
    for (String path : Value.paths(resolver.valuesOf(node))) {
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
      above = scopes.parent(above);
    }
    if (above == null) return Kind.READ;
    boolean target =
        above.is("assignment", "augmented_assignment", "for_statement", "for_in_clause")
            && "left".equals(at.field());
    if (target || above.is("as_pattern_target")) return Kind.WRITE;
    return above.is("delete_statement") ? Kind.DELETE : Kind.READ;
  }

  private void add(String path, Kind kind, Node node, Set<Access> found) {
    found.add(new Access(path, kind, node, source.place(node), scopes.scopeOf(node)));
  }
}
