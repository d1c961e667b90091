package dev.kbx.program;

import dev.kbx.program.AbstractValue.Constant;
import dev.kbx.program.AbstractValue.Container;
import dev.kbx.program.AbstractValue.Definition;
import dev.kbx.program.AbstractValue.External;
import dev.kbx.program.AbstractValue.Instance;
import dev.kbx.program.Scope.Kind;
import dev.kbx.program.Scope.Parameter;
import dev.kbx.syntax.Node;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The transfer function of each kind of node: how values flow through it. */
final class TransferFunctions {
  private final ValueFlow flow;
  private final CallBinding calls;
  private final Attributes attributes;
  private final ConstantFolding folding;

  TransferFunctions(
      ValueFlow flow, CallBinding calls, Attributes attributes, ConstantFolding folding) {
    this.flow = flow;
    this.calls = calls;
    this.attributes = attributes;
    this.folding = folding;
  }

  /** Binds the parameters of a scope, and its name to the definition with decorators applied. */
  void define(Scope scope) {
    Scope around = scope.parent().orElseThrow();
    parameters(scope, around);
    Definition definition = new Definition(scope, null);
    if (scope.kind() == Kind.LAMBDA) {
      flow.add(flow.valuesOf(scope.node()), definition);
      Node body = scope.node().child("body");
      if (body != null) flow.copy(flow.valuesOf(body), scope.result);
      return;
    }
    if (scope.kind() == Kind.CLASS) bases(scope);
    ValueSet defined = new ValueSet();
    flow.add(defined, definition);
    for (Node decorator : scope.decorators.reversed()) {
      ValueSet before = defined;
      ValueSet after = new ValueSet();
      flow.forEach(
          flow.valuesOf(decorator), value -> calls.decorate(value, before, after, decorator));
      defined = after;
    }
    flow.copy(defined, flow.variable(scope.name(), around));
  }

  private void parameters(Scope scope, Scope around) {
    boolean method = around.kind() == Kind.CLASS && scope.kind() == Kind.FUNCTION;
    for (int i = 0; i < scope.parameters.size(); i++) {
      Parameter parameter = scope.parameters.get(i);
      ValueSet set = scope.variables.computeIfAbsent(parameter.name(), _ -> new ValueSet());
      if (parameter.stars() > 0) {
        Container container = new Container(List.of());
        container.open = true;
        flow.add(container.content, AbstractValue.UNKNOWN);
        flow.add(set, container);
      } else if (method && i == 0) {
        flow.add(set, new Instance(around));
      } else {
        flow.add(set, AbstractValue.UNKNOWN);
      }
      if (parameter.value() != null) flow.copy(flow.valuesOf(parameter.value()), set);
    }
  }

  private void bases(Scope type) {
    Node list = type.node().child("superclasses");
    if (list == null) return;
    for (Node each : list.children()) {
      if (each.is("(", ")", ",", "keyword_argument")) continue;
      flow.copy(flow.valuesOf(each), type.result);
    }
  }

  void of(Node node) {
    switch (node.kind()) {
      case "import_statement" -> imports(node, null);
      case "import_from_statement", "future_import_statement" -> {
        Node from = node.child("module_name");
        imports(node, from == null ? "__future__" : flow.text(from));
      }
      case "assignment" -> assignment(node, "left", "right");
      case "named_expression" -> assignment(node, "name", "value");
      case "augmented_assignment" -> augmented(node);
      case "for_statement" -> loop(node);
      case "for_in_clause" -> loop(node);
      case "as_pattern" -> as(node);
      case "return_statement" -> returned(node);
      case "yield" -> yielded(node);
      case "attribute" -> attribute(node);
      case "subscript" -> subscript(node);
      case "call" -> call(node);
      case "string", "concatenated_string" -> folding.string(node);
      case "integer", "float", "true", "false", "unary_operator" ->
          flow.literal(node).ifPresent(value -> flow.add(flow.valuesOf(node), new Constant(value)));
      case "list", "tuple", "set", "expression_list" -> display(node);
      case "list_comprehension",
          "set_comprehension",
          "generator_expression",
          "dictionary_comprehension" ->
          comprehension(node);
      case "dictionary" -> dictionary(node);
      case "conditional_expression" -> {
        List<Node> parts = node.children();
        if (parts.size() == 5) {
          flow.copy(flow.valuesOf(parts.getFirst()), flow.valuesOf(node));
          flow.copy(flow.valuesOf(parts.getLast()), flow.valuesOf(node));
        }
      }
      case "boolean_operator" -> {
        Node left = node.child("left");
        Node right = node.child("right");
        if (left != null) flow.copy(flow.valuesOf(left), flow.valuesOf(node));
        if (right != null) flow.copy(flow.valuesOf(right), flow.valuesOf(node));
      }
      case "binary_operator" -> binary(node);
      case "await", "parenthesized_expression", "type" -> {
        if (!node.children().isEmpty() && !node.is("parenthesized_expression")) {
          flow.copy(flow.valuesOf(node.children().getLast()), flow.valuesOf(node));
        }
      }
      default -> {}
    }
  }

  private void imports(Node statement, @Nullable String from) {
    Scope scope = flow.scopeOf(statement);
    for (Node child : statement.children()) {
      if (child.is("wildcard_import")) flow.unreadable();
      if (!"name".equals(child.field())) continue;
      Node alias = child.child("alias");
      Node name = child.child("name");
      String full = flow.text(name == null ? child : name);
      String bound = alias == null ? full : flow.text(alias);
      if (from != null) {
        flow.add(flow.variable(bound, scope), new External(from + "." + full));
      } else if (alias != null) {
        flow.add(flow.variable(bound, scope), new External(full));
      } else {
        String first = full.split("\\.", 2)[0];
        flow.add(flow.variable(first, scope), new External(first));
      }
    }
  }

  private void assignment(Node node, String targetRole, String valueRole) {
    Node target = node.child(targetRole);
    Node value = node.child(valueRole);
    if (target == null || value == null) return;
    bind(target, flow.valuesOf(value));
    // `a = b = c` has an assignment on its right side; `(a := b)` has a value.
    flow.copy(flow.valuesOf(value), flow.valuesOf(node));
  }

  private void augmented(Node node) {
    Node left = node.child("left");
    Node right = node.child("right");
    Node operator = node.child("operator");
    if (left == null || right == null || operator == null) return;
    ValueSet result = new ValueSet();
    folding.binary(operator, left, right, result);
    // `list += more` adds to the same list.
    flow.forEach(
        flow.valuesOf(left),
        value -> {
          if (!(value instanceof Container container)) return;
          container.changed = true;
          flow.copy(attributes.elements(flow.valuesOf(right)), container.content);
        });
    bind(left, result);
  }

  private void loop(Node node) {
    Node left = node.child("left");
    Node right = node.child("right");
    if (left != null && right != null) bind(left, attributes.elements(flow.valuesOf(right)));
  }

  /** {@code with value as target}; targets of {@code except} and {@code case} are unknown. */
  private void as(Node node) {
    Node target = node.child("alias");
    Node value = node.children().getFirst();
    if (target == null || target.children().isEmpty()) return;
    Node parent = flow.parent(node);
    ValueSet bound = new ValueSet();
    if (parent != null && parent.is("with_item")) {
      flow.copy(flow.valuesOf(value), bound);
      flow.forEach(
          flow.valuesOf(value),
          each -> {
            if (!(each instanceof Instance)) return;
            ValueSet enter = new ValueSet();
            attributes.get(each, "__enter__", enter);
            calls.callEach(enter, Arguments.NONE, bound);
          });
    } else {
      flow.forEach(
          flow.valuesOf(value),
          each ->
              flow.add(
                  bound, each instanceof External type ? type.called() : AbstractValue.UNKNOWN));
    }
    bind(target.children().getFirst(), bound);
  }

  private void returned(Node node) {
    if (node.children().size() < 2) return;
    flow.copy(flow.valuesOf(node.children().get(1)), flow.scopeOf(node).result);
  }

  private void yielded(Node node) {
    if (node.children().size() < 2) return;
    ValueSet result = flow.scopeOf(node).result;
    boolean from = node.children().size() > 2;
    ValueSet value = flow.valuesOf(node.children().getLast());
    Container container = new Container(List.of());
    container.open = true;
    flow.copy(from ? attributes.elements(value) : value, container.content);
    flow.add(result, container);
  }

  /** Binds the names in a target to a value. */
  private void bind(Node target, ValueSet value) {
    record Part(Node target, ValueSet value) {}
    Deque<Part> open = new ArrayDeque<>();
    open.push(new Part(target, value));
    while (!open.isEmpty()) {
      Part part = open.pop();
      Node node = part.target;
      switch (node.kind()) {
        case "identifier" -> flow.copy(part.value, flow.valuesOf(node));
        case "attribute" -> store(node, part.value);
        case "subscript" -> storeItem(node, part.value);
        case "parenthesized_expression" ->
            node.children().forEach(each -> open.push(new Part(each, part.value)));
        case "list_splat_pattern", "list_splat" -> {
          Container rest = new Container(List.of());
          rest.open = true;
          flow.copy(part.value, rest.content);
          ValueSet set = new ValueSet();
          flow.add(set, rest);
          open.push(new Part(node.children().getLast(), set));
        }
        case "pattern_list",
            "tuple_pattern",
            "list_pattern",
            "tuple",
            "list",
            "expression_list" -> {
          int at = 0;
          boolean fixed = true;
          for (Node each : node.children()) {
            if (each.is("(", ")", "[", "]", ",")) continue;
            if (each.is("list_splat_pattern", "list_splat")) fixed = false;
            ValueSet item =
                fixed ? attributes.item(part.value, at++) : attributes.elements(part.value);
            open.push(new Part(each, item));
          }
        }
        default -> {}
      }
    }
  }

  private void store(Node attribute, ValueSet value) {
    Node object = attribute.child("object");
    Node name = attribute.child("attribute");
    if (object == null || name == null) return;
    String text = flow.text(name);
    flow.forEach(flow.valuesOf(object), owner -> attributes.set(owner, text, value));
  }

  private void storeItem(Node subscript, ValueSet value) {
    Node object = subscript.child("value");
    Node key = subscript.child("subscript");
    if (object == null || key == null) return;
    flow.forEach(
        flow.valuesOf(object),
        owner -> {
          if (owner instanceof Container container) {
            container.changed = true;
            flow.copy(value, container.content);
            flow.copy(flow.valuesOf(key), container.keys);
          } else {
            flow.forEach(
                flow.valuesOf(key),
                each -> {
                  if (each instanceof Constant(String name)) attributes.set(owner, name, value);
                });
          }
        });
  }

  private void attribute(Node node) {
    Node object = node.child("object");
    Node name = node.child("attribute");
    if (object == null || name == null) return;
    String text = flow.text(name);
    ValueSet set = flow.valuesOf(node);
    flow.forEach(flow.valuesOf(object), value -> attributes.get(value, text, set));
  }

  private void subscript(Node node) {
    Node object = node.child("value");
    Node index = node.child("subscript");
    if (object == null || index == null) return;
    ValueSet into = flow.valuesOf(node);
    flow.forEach(
        flow.valuesOf(object),
        value -> {
          if (!index.is("slice")) attributes.element(value, flow.valuesOf(index), into);
          // A slice holds no other elements than the container.
          else flow.add(into, value instanceof Container ? value : AbstractValue.UNKNOWN);
        });
  }

  private void binary(Node node) {
    Node left = node.child("left");
    Node right = node.child("right");
    Node operator = node.child("operator");
    if (left == null || right == null || operator == null) return;
    folding.binary(operator, left, right, flow.valuesOf(node));
  }

  private void display(Node node) {
    List<ValueSet> items = new ArrayList<>();
    boolean splat = false;
    ValueSet spread = new ValueSet();
    for (Node each : node.children()) {
      if (each.is("[", "]", "(", ")", "{", "}", ",")) continue;
      if (each.is("list_splat")) {
        splat = true;
        flow.copy(attributes.elements(flow.valuesOf(each.children().getLast())), spread);
      } else {
        items.add(flow.valuesOf(each));
      }
    }
    Container container = new Container(splat ? List.of() : items);
    container.open = splat;
    items.forEach(item -> flow.copy(item, container.content));
    flow.copy(spread, container.content);
    flow.add(flow.valuesOf(node), container);
  }

  private void comprehension(Node node) {
    Node body = node.child("body");
    if (body == null) return;
    Container container = new Container(List.of());
    container.open = true;
    Node key = body.child("key");
    Node value = body.child("value");
    if (body.is("pair") && key != null && value != null) {
      flow.copy(flow.valuesOf(key), container.keys);
      flow.copy(flow.valuesOf(value), container.content);
    } else {
      flow.copy(flow.valuesOf(body), container.content);
    }
    flow.add(flow.valuesOf(node), container);
  }

  private void dictionary(Node node) {
    Container container = new Container(List.of());
    container.open = true;
    for (Node pair : node.children()) {
      Node key = pair.child("key");
      Node value = pair.child("value");
      if (pair.is("dictionary_splat")) {
        container.changed = true;
        flow.copy(attributes.elements(flow.valuesOf(pair.children().getLast())), container.content);
      }
      if (!pair.is("pair") || key == null || value == null) continue;
      flow.copy(flow.valuesOf(value), container.content);
      flow.copy(flow.valuesOf(key), container.keys);
      flow.forEach(
          flow.valuesOf(key),
          known -> {
            if (known instanceof Constant(Object constant)) {
              flow.copy(
                  flow.valuesOf(value),
                  container.entries.computeIfAbsent(constant, _ -> new ValueSet()));
            }
          });
    }
    flow.add(flow.valuesOf(node), container);
  }

  private void call(Node node) {
    Node function = node.child("function");
    if (function == null) return;
    Arguments arguments = calls.arguments(node.child("arguments"));
    ValueSet result = flow.valuesOf(node);
    flow.forEach(flow.valuesOf(function), target -> calls.call(target, arguments, result, node));
  }
}
