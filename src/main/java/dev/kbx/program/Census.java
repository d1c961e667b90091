package dev.kbx.program;

import dev.kbx.program.Access.Kind;
import dev.kbx.program.Value.External;
import dev.kbx.program.Value.Launcher;
import dev.kbx.program.Value.Own;
import dev.kbx.syntax.Node;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Lists what a program does, once its values are known. */
final class Census {
  private static final Set<String> JIT =
      Set.of(
          "triton.jit",
          "triton.jit()",
          "triton.JITFunction",
          "triton.runtime.JITFunction",
          "triton.runtime.jit.jit",
          "triton.runtime.jit.jit()",
          "triton.runtime.jit.JITFunction",
          "triton.experimental.gluon.jit");

  private static final Set<String> AUTOTUNE =
      Set.of(
          "triton.autotune",
          "triton.runtime.autotune",
          "triton.runtime.autotuner.autotune",
          "triton.runtime.Autotuner",
          "triton.runtime.autotuner.Autotuner");

  private final ValueFlow flow;

  Census(ValueFlow flow) {
    this.flow = flow;
  }

  List<Call> calls() {
    List<Call> calls = new ArrayList<>();
    for (Node node : flow.nodes()) {
      Node function = node.child("function");
      if (node.is("call") && function != null) {
        calls.add(call(node, flow.paths(flow.cell(function)), node.child("arguments")));
      }
      if (node.is("decorator") && node.children().size() > 1) {
        Node definition = definition(node);
        Node applied = node.children().get(1);
        calls.add(
            new Call(
                node,
                flow.place(node),
                flow.scopeOf(node),
                flow.paths(flow.cell(applied)),
                definition == null ? List.of() : List.of(definition),
                Map.of()));
      }
    }
    return List.copyOf(calls);
  }

  private @Nullable Node definition(Node decorator) {
    Node parent = flow.parent(decorator);
    if (parent == null) return null;
    // The last child, after any number of decorators.
    Node last = parent.children().getLast();
    return "definition".equals(last.field()) ? last : null;
  }

  private Call call(Node node, Set<String> targets, @Nullable Node list) {
    List<Node> arguments = new ArrayList<>();
    Map<String, Node> keywords = new LinkedHashMap<>();
    List<Node> given = list == null ? List.of() : list.children();
    if (list != null && !list.is("argument_list")) given = List.of(list);
    for (Node each : given) {
      if (each.is("(", ")", ",", "dictionary_splat")) continue;
      Node name = each.child("name");
      Node value = each.child("value");
      if (each.is("keyword_argument") && name != null && value != null) {
        keywords.put(flow.text(name), value);
      } else {
        arguments.add(each);
      }
    }
    return new Call(node, flow.place(node), flow.scopeOf(node), targets, arguments, keywords);
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
    for (Value owner : flow.cell(object).values) {
      if (owner instanceof Value.Namespace || owner instanceof External) dictionary = true;
      if (kind != Kind.READ && owner instanceof External external && !external.unknown()) {
        add(external.element().path(), kind, node, found);
      }
    }
    if (!dictionary) return;
    for (Value value : flow.cell(node).values) {
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

  /** What is bound is the owner's attribute, not the value that the attribute holds. */
  private void changed(Node node, Kind kind, Set<Access> found) {
    Node object = node.child("object");
    Node name = node.child("attribute");
    if (object == null || name == null) return;
    for (Value owner : flow.cell(object).values) {
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
    for (String path : flow.paths(flow.cell(node))) {
      if (path.startsWith("@") || path.equals("?")) continue;
      if (prefix && !path.startsWith("?")) continue;
      boolean made = path.endsWith("()") || path.endsWith("[]");
      if (made && node.is("identifier")) continue;
      add(path, kind, node, found);
    }
  }

  /** Not the name of an attribute, a parameter, a keyword or an import. */
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

  List<Kernel> kernels(List<Call> calls) {
    Set<Scope> jitted = new LinkedHashSet<>();
    for (Call call : calls) {
      if (call.targets().stream().noneMatch(JIT::contains) || call.arguments().isEmpty()) continue;
      Node first = call.arguments().getFirst();
      Scope defined = flow.defined(first);
      if (defined != null) jitted.add(defined);
      else jitted.addAll(flow.owned(flow.cell(first)));
    }
    Map<Scope, List<Call>> operations = operations(calls, jitted);
    Map<Scope, List<Kernel.Config>> configs = configs(calls);
    List<Kernel> kernels = new ArrayList<>();
    for (Scope scope : flow.scopes()) {
      if (!jitted.contains(scope)) continue;
      List<Call> own = operations.getOrDefault(scope, List.of());
      kernels.add(kernel(scope, own, configs.getOrDefault(scope, List.of())));
    }
    return List.copyOf(kernels);
  }

  private static Map<Scope, List<Call>> operations(List<Call> calls, Set<Scope> kernels) {
    Map<Scope, List<Call>> found = new HashMap<>();
    for (Call call : calls) {
      if (call.targets().stream().noneMatch(Census::isOperation)) continue;
      for (Scope at = call.scope(); at != null; at = at.parent().orElse(null)) {
        if (kernels.contains(at)) found.computeIfAbsent(at, _ -> new ArrayList<>()).add(call);
      }
    }
    return found;
  }

  private Kernel kernel(Scope scope, List<Call> operations, List<Kernel.Config> configs) {
    List<String> names = new ArrayList<>();
    Set<String> constexprs = new LinkedHashSet<>();
    for (Scope.Parameter parameter : scope.parameters()) {
      names.add(parameter.name());
      Node type = parameter.type();
      if (type != null && flow.text(type).contains("constexpr")) constexprs.add(parameter.name());
    }
    return new Kernel(scope.name(), scope, names, constexprs, operations, configs);
  }

  /** Of the language itself; methods of what it makes are left out. */
  private static boolean isOperation(String path) {
    return path.startsWith("triton.language.") && !path.contains("(");
  }

  /** What each kernel is tuned over, in source order. */
  private Map<Scope, List<Kernel.Config>> configs(List<Call> calls) {
    Map<Node, Call> byNode = new HashMap<>();
    for (Call call : calls) byNode.put(call.node(), call);
    Map<Scope, Set<Node>> made = new HashMap<>();
    for (Call call : calls) {
      if (call.targets().stream().noneMatch(AUTOTUNE::contains)) continue;
      Set<Node> configs = made(call);
      for (Scope scope : tuned(call)) {
        made.computeIfAbsent(scope, _ -> new LinkedHashSet<>()).addAll(configs);
      }
    }
    Map<Scope, List<Kernel.Config>> found = new HashMap<>();
    made.forEach((scope, nodes) -> found.put(scope, configs(nodes, byNode)));
    return found;
  }

  private List<Kernel.Config> configs(Set<Node> made, Map<Node, Call> byNode) {
    List<Kernel.Config> configs = new ArrayList<>();
    for (Node node : made.stream().sorted(Comparator.comparingInt(Node::start)).toList()) {
      Call call = byNode.get(node);
      if (call != null) configs.add(config(call));
    }
    return configs;
  }

  /** The calls that made the configurations of an autotuner. */
  private Set<Node> made(Call call) {
    Set<Node> made = new LinkedHashSet<>();
    Node list = call.argument(0, "configs").orElse(null);
    if (list == null) return made;
    for (Value value : flow.cell(list).values) {
      if (!(value instanceof Value.Box box)) continue;
      for (Value each : box.content.values) {
        if (each instanceof Value.Made(Node node, _)) made.add(node);
      }
    }
    return made;
  }

  /** What the call decorates, or what its result is called with. */
  private Set<Scope> tuned(Call call) {
    Node parent = flow.parent(call.node());
    if (parent != null && parent.is("decorator")) {
      Node definition = definition(parent);
      Scope decorated = definition == null ? null : flow.defined(definition);
      return decorated == null ? Set.of() : Set.of(decorated);
    }
    return parent != null && parent.is("call") && call.node().equals(parent.child("function"))
        ? flow.owned(flow.cell(parent))
        : Set.of();
  }

  private Kernel.Config config(Call call) {
    Map<String, Object> values = new HashMap<>();
    if (!call.arguments().isEmpty()) {
      for (Value value : flow.cell(call.arguments().getFirst()).values) {
        if (!(value instanceof Value.Box box)) continue;
        box.entries.forEach((key, cell) ->
            flow.constant(cell).ifPresent(known -> values.put(key.toString(), known)));
      }
    }
    Map<String, Object> options = new HashMap<>();
    call.keywords()
        .forEach((name, node) ->
            flow.constant(flow.cell(node)).ifPresent(known -> options.put(name, known)));
    return new Kernel.Config(values, options);
  }

  List<Launch> launches(List<Call> calls, List<Kernel> kernels) {
    List<Launch> launches = new ArrayList<>();
    for (Call call : calls) {
      Node function = call.node().child("function");
      if (!call.node().is("call") || function == null) continue;
      Set<Scope> launched = new HashSet<>();
      boolean unknown = false;
      for (Value value : flow.cell(function).values) {
        if (value instanceof Launcher launcher) launched.add(launcher.kernel());
      }
      Node grid = function.is("subscript") ? function.child("subscript") : null;
      Node object = function.is("subscript") ? function.child("value") : null;
      if (object != null) {
        for (Value value : flow.cell(object).values) {
          if (value instanceof External external && external.unknown()) unknown = true;
          if (value instanceof Own own && own.scope().kind() == Scope.Kind.FUNCTION) {
            launched.add(own.scope());
          }
        }
      }
      List<Kernel> known =
          launched.isEmpty()
              ? List.of()
              : kernels.stream().filter(k -> launched.contains(k.scope())).toList();
      if (grid == null) grid = call.keywords().get("grid");
      if (!known.isEmpty() || unknown) launches.add(new Launch(call, known, grid));
    }
    return List.copyOf(launches);
  }
}
