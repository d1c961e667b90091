package dev.kbx.program;

import dev.kbx.program.Scope.Kind;
import dev.kbx.program.Scope.Parameter;
import dev.kbx.program.Value.Box;
import dev.kbx.program.Value.Constant;
import dev.kbx.program.Value.External;
import dev.kbx.program.Value.Instance;
import dev.kbx.program.Value.Own;
import dev.kbx.syntax.Node;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What each kind of node does with values. */
final class Meaning {
  private final ValueFlow flow;
  private final Calls calls;
  private final Members members;
  private final Folding folding;

  Meaning(ValueFlow flow, Calls calls, Members members, Folding folding) {
    this.flow = flow;
    this.calls = calls;
    this.members = members;
    this.folding = folding;
  }

  /** Binds what a scope brings: its parameters, and its name to what its decorators make of it. */
  void define(Scope scope) {
    Scope around = scope.parent().orElseThrow();
    parameters(scope, around);
    Own own = new Own(scope, null);
    if (scope.kind() == Kind.LAMBDA) {
      flow.add(flow.cell(scope.node()), own);
      Node body = scope.node().child("body");
      if (body != null) flow.flow(flow.cell(body), scope.result);
      return;
    }
    if (scope.kind() == Kind.CLASS) bases(scope);
    Cell defined = new Cell();
    flow.add(defined, own);
    for (Node decorator : scope.decorators.reversed()) {
      Cell before = defined;
      Cell after = new Cell();
      flow.each(flow.cell(decorator), value -> calls.decorate(value, before, after, decorator));
      defined = after;
    }
    flow.flow(defined, flow.variable(scope.name(), around));
  }

  private void parameters(Scope scope, Scope around) {
    boolean method = around.kind() == Kind.CLASS && scope.kind() == Kind.FUNCTION;
    for (int i = 0; i < scope.parameters.size(); i++) {
      Parameter parameter = scope.parameters.get(i);
      Cell cell = scope.variables.computeIfAbsent(parameter.name(), _ -> new Cell());
      if (parameter.stars() > 0) {
        Box box = new Box(List.of());
        box.open = true;
        flow.add(box.content, Value.UNKNOWN);
        flow.add(cell, box);
      } else if (method && i == 0) {
        flow.add(cell, new Instance(around));
      } else {
        flow.add(cell, Value.UNKNOWN);
      }
      if (parameter.value() != null) flow.flow(flow.cell(parameter.value()), cell);
    }
  }

  private void bases(Scope type) {
    Node list = type.node().child("superclasses");
    if (list == null) return;
    for (Node each : list.children()) {
      if (each.is("(", ")", ",", "keyword_argument")) continue;
      flow.flow(flow.cell(each), type.result);
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
          flow.literal(node).ifPresent(value -> flow.add(flow.cell(node), new Constant(value)));
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
          flow.flow(flow.cell(parts.getFirst()), flow.cell(node));
          flow.flow(flow.cell(parts.getLast()), flow.cell(node));
        }
      }
      case "boolean_operator" -> {
        Node left = node.child("left");
        Node right = node.child("right");
        if (left != null) flow.flow(flow.cell(left), flow.cell(node));
        if (right != null) flow.flow(flow.cell(right), flow.cell(node));
      }
      case "binary_operator" -> binary(node);
      case "await", "parenthesized_expression", "type" -> {
        if (!node.children().isEmpty() && !node.is("parenthesized_expression")) {
          flow.flow(flow.cell(node.children().getLast()), flow.cell(node));
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
    bind(target, flow.cell(value));
    // `a = b = c` is an assignment whose right side is one; `(a := b)` has a value.
    flow.flow(flow.cell(value), flow.cell(node));
  }

  private void augmented(Node node) {
    Node left = node.child("left");
    Node right = node.child("right");
    Node operator = node.child("operator");
    if (left == null || right == null || operator == null) return;
    Cell result = new Cell();
    folding.binary(operator, left, right, result);
    // `list += more` keeps the list, with more in it.
    flow.each(
        flow.cell(left),
        value -> {
          if (!(value instanceof Box box)) return;
          box.changed = true;
          flow.flow(members.elements(flow.cell(right)), box.content);
        });
    bind(left, result);
  }

  private void loop(Node node) {
    Node left = node.child("left");
    Node right = node.child("right");
    if (left != null && right != null) bind(left, members.elements(flow.cell(right)));
  }

  /** {@code with value as target}; of {@code except} and {@code case} nothing is known. */
  private void as(Node node) {
    Node target = node.child("alias");
    Node value = node.children().getFirst();
    if (target == null || target.children().isEmpty()) return;
    Node parent = flow.parent(node);
    Cell bound = new Cell();
    if (parent != null && parent.is("with_item")) {
      flow.flow(flow.cell(value), bound);
      flow.each(
          flow.cell(value),
          each -> {
            if (!(each instanceof Instance)) return;
            Cell enter = new Cell();
            members.get(each, "__enter__", enter);
            calls.callEach(enter, Arguments.NONE, bound);
          });
    } else {
      flow.each(
          flow.cell(value),
          each -> flow.add(bound, each instanceof External type ? type.called() : Value.UNKNOWN));
    }
    bind(target.children().getFirst(), bound);
  }

  private void returned(Node node) {
    if (node.children().size() < 2) return;
    flow.flow(flow.cell(node.children().get(1)), flow.scopeOf(node).result);
  }

  private void yielded(Node node) {
    if (node.children().size() < 2) return;
    Cell result = flow.scopeOf(node).result;
    boolean from = node.children().size() > 2;
    Cell value = flow.cell(node.children().getLast());
    Box box = new Box(List.of());
    box.open = true;
    flow.flow(from ? members.elements(value) : value, box.content);
    flow.add(result, box);
  }

  /** Binds the names in a target to a value. */
  private void bind(Node target, Cell value) {
    record Part(Node target, Cell value) {}
    Deque<Part> open = new ArrayDeque<>();
    open.push(new Part(target, value));
    while (!open.isEmpty()) {
      Part part = open.pop();
      Node node = part.target;
      switch (node.kind()) {
        case "identifier" -> flow.flow(part.value, flow.cell(node));
        case "attribute" -> store(node, part.value);
        case "subscript" -> storeItem(node, part.value);
        case "parenthesized_expression" ->
            node.children().forEach(each -> open.push(new Part(each, part.value)));
        case "list_splat_pattern", "list_splat" -> {
          Box rest = new Box(List.of());
          rest.open = true;
          flow.flow(part.value, rest.content);
          Cell cell = new Cell();
          flow.add(cell, rest);
          open.push(new Part(node.children().getLast(), cell));
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
            Cell item = fixed ? members.item(part.value, at++) : members.elements(part.value);
            open.push(new Part(each, item));
          }
        }
        default -> {}
      }
    }
  }

  private void store(Node attribute, Cell value) {
    Node object = attribute.child("object");
    Node name = attribute.child("attribute");
    if (object == null || name == null) return;
    String text = flow.text(name);
    flow.each(flow.cell(object), owner -> members.set(owner, text, value));
  }

  private void storeItem(Node subscript, Cell value) {
    Node object = subscript.child("value");
    Node key = subscript.child("subscript");
    if (object == null || key == null) return;
    flow.each(
        flow.cell(object),
        owner -> {
          if (owner instanceof Box box) {
            box.changed = true;
            flow.flow(value, box.content);
            flow.flow(flow.cell(key), box.keys);
          } else {
            flow.each(
                flow.cell(key),
                each -> {
                  if (each instanceof Constant(String name)) members.set(owner, name, value);
                });
          }
        });
  }

  private void attribute(Node node) {
    Node object = node.child("object");
    Node name = node.child("attribute");
    if (object == null || name == null) return;
    String text = flow.text(name);
    Cell cell = flow.cell(node);
    flow.each(flow.cell(object), value -> members.get(value, text, cell));
  }

  private void subscript(Node node) {
    Node object = node.child("value");
    Node index = node.child("subscript");
    if (object == null || index == null) return;
    Cell into = flow.cell(node);
    flow.each(
        flow.cell(object),
        value -> {
          if (!index.is("slice")) members.element(value, flow.cell(index), into);
          // A part of a container holds nothing else than the container.
          else flow.add(into, value instanceof Box ? value : Value.UNKNOWN);
        });
  }

  private void binary(Node node) {
    Node left = node.child("left");
    Node right = node.child("right");
    Node operator = node.child("operator");
    if (left == null || right == null || operator == null) return;
    folding.binary(operator, left, right, flow.cell(node));
  }

  private void display(Node node) {
    List<Cell> items = new ArrayList<>();
    boolean splat = false;
    Cell spread = new Cell();
    for (Node each : node.children()) {
      if (each.is("[", "]", "(", ")", "{", "}", ",")) continue;
      if (each.is("list_splat")) {
        splat = true;
        flow.flow(members.elements(flow.cell(each.children().getLast())), spread);
      } else {
        items.add(flow.cell(each));
      }
    }
    Box box = new Box(splat ? List.of() : items);
    box.open = splat;
    items.forEach(item -> flow.flow(item, box.content));
    flow.flow(spread, box.content);
    flow.add(flow.cell(node), box);
  }

  private void comprehension(Node node) {
    Node body = node.child("body");
    if (body == null) return;
    Box box = new Box(List.of());
    box.open = true;
    Node key = body.child("key");
    Node value = body.child("value");
    if (body.is("pair") && key != null && value != null) {
      flow.flow(flow.cell(key), box.keys);
      flow.flow(flow.cell(value), box.content);
    } else {
      flow.flow(flow.cell(body), box.content);
    }
    flow.add(flow.cell(node), box);
  }

  private void dictionary(Node node) {
    Box box = new Box(List.of());
    box.open = true;
    for (Node pair : node.children()) {
      Node key = pair.child("key");
      Node value = pair.child("value");
      if (pair.is("dictionary_splat")) {
        box.changed = true;
        flow.flow(members.elements(flow.cell(pair.children().getLast())), box.content);
      }
      if (!pair.is("pair") || key == null || value == null) continue;
      flow.flow(flow.cell(value), box.content);
      flow.flow(flow.cell(key), box.keys);
      flow.each(
          flow.cell(key),
          known -> {
            if (known instanceof Constant(Object constant)) {
              flow.flow(flow.cell(value), box.entries.computeIfAbsent(constant, _ -> new Cell()));
            }
          });
    }
    flow.add(flow.cell(node), box);
  }

  private void call(Node node) {
    Node function = node.child("function");
    if (function == null) return;
    Arguments arguments = calls.arguments(node.child("arguments"));
    Cell result = flow.cell(node);
    flow.each(flow.cell(function), target -> calls.call(target, arguments, result, node));
  }
}
