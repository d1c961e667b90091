package dev.kbx.program;

import dev.kbx.program.Scope.Kind;
import dev.kbx.program.Scope.Parameter;
import dev.kbx.program.Value.Box;
import dev.kbx.program.Value.Constant;
import dev.kbx.program.Value.External;
import dev.kbx.program.Value.Instance;
import dev.kbx.program.Value.Launcher;
import dev.kbx.program.Value.Own;
import dev.kbx.syntax.Node;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What each kind of node does with values. */
final class Meaning {
  /** Longer paths tell nobody more. */
  private static final int MAX_PATH = 120;

  private final Flow flow;

  Meaning(Flow flow) {
    this.flow = flow;
  }

  /** Binds what a scope itself brings: its parameters. */
  void define(Scope scope) {
    Scope around = scope.parent().orElseThrow();
    boolean method = around.kind() == Kind.CLASS && scope.kind() == Kind.FUNCTION;
    for (int i = 0; i < scope.parameters.size(); i++) {
      Parameter parameter = scope.parameters.get(i);
      Cell cell = scope.variables.computeIfAbsent(parameter.name(), _ -> new Cell());
      if (method && i == 0) flow.add(cell, new Instance(around));
      else flow.add(cell, Value.UNKNOWN);
      if (parameter.value() != null) flow.flow(flow.cell(parameter.value()), cell);
    }
    if (scope.kind() == Kind.LAMBDA) {
      flow.add(flow.cell(scope.node()), new Own(scope, null));
      Node body = scope.node().child("body");
      if (body != null) flow.flow(flow.cell(body), scope.result);
    } else {
      flow.add(flow.variable(scope.name(), around), new Own(scope, null));
    }
  }

  void of(Node node) {
    switch (node.kind()) {
      case "import_statement" -> imports(node, null);
      case "import_from_statement" -> {
        Node from = node.child("module_name");
        imports(node, from == null ? "" : flow.text(from));
      }
      case "assignment", "named_expression" -> assignment(node);
      case "for_statement", "for_in_clause" -> {
        Node left = node.child("left");
        Node right = node.child("right");
        if (left != null && right != null) bind(left, elements(flow.cell(right)));
      }
      case "return_statement" -> {
        if (node.children().size() > 1) {
          flow.flow(flow.cell(node.children().get(1)), flow.scopeOf(node).result);
        }
      }
      case "attribute" -> attribute(node);
      case "subscript" -> subscript(node);
      case "call" -> call(node);
      case "string", "concatenated_string", "integer", "float", "true", "false" ->
          flow.literal(node).ifPresent(value -> flow.add(flow.cell(node), new Constant(value)));
      case "list", "tuple", "set", "expression_list" -> {
        List<Cell> items = new ArrayList<>();
        for (Node each : node.children()) {
          if (!each.is("[", "]", "(", ")", "{", "}", ",", "comment")) items.add(flow.cell(each));
        }
        Box box = new Box(items);
        items.forEach(item -> flow.flow(item, box.content));
        flow.add(flow.cell(node), box);
      }
      case "dictionary" -> dictionary(node);
      case "conditional_expression" -> {
        if (node.children().size() == 5) {
          flow.flow(flow.cell(node.children().getFirst()), flow.cell(node));
          flow.flow(flow.cell(node.children().getLast()), flow.cell(node));
        }
      }
      case "boolean_operator" -> {
        Node left = node.child("left");
        Node right = node.child("right");
        if (left != null) flow.flow(flow.cell(left), flow.cell(node));
        if (right != null) flow.flow(flow.cell(right), flow.cell(node));
      }
      case "binary_operator", "unary_operator", "await", "comparison_operator", "not_operator" ->
          flow.add(flow.cell(node), Value.UNKNOWN);
      default -> {}
    }
  }

  private void imports(Node statement, @Nullable String from) {
    var scope = flow.scopeOf(statement);
    for (Node child : statement.children()) {
      if (child.is("wildcard_import")) flow.unreadable();
      if (!"name".equals(child.field())) continue;
      Node alias = child.child("alias");
      Node name = child.child("name");
      String full = flow.text(name == null ? child : name);
      if (from != null) {
        String bound = alias == null ? full : flow.text(alias);
        flow.add(flow.variable(bound, scope), new External(from + "." + full));
      } else if (alias != null) {
        flow.add(flow.variable(flow.text(alias), scope), new External(full));
      } else {
        String first = full.split("\\.", 2)[0];
        flow.add(flow.variable(first, scope), new External(first));
      }
    }
  }

  private void assignment(Node node) {
    Node left = node.child(node.is("assignment") ? "left" : "name");
    Node right = node.child(node.is("assignment") ? "right" : "value");
    if (left == null || right == null) return;
    bind(left, flow.cell(right));
    // `a = b = c` is an assignment whose right side is one; `(a := b)` has a value.
    flow.flow(flow.cell(right), flow.cell(node));
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
        case "pattern_list",
            "tuple_pattern",
            "list_pattern",
            "tuple",
            "list",
            "expression_list" -> {
          int at = 0;
          for (Node each : node.children()) {
            if (each.is("(", ")", "[", "]", ",", "comment")) continue;
            open.push(new Part(each, item(part.value, at++)));
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
    flow.each(
        flow.cell(object),
        owner -> {
          Scope type =
              owner instanceof Instance instance
                  ? instance.type()
                  : owner instanceof Own own ? own.scope() : null;
          if (type != null) {
            flow.flow(value, type.variables.computeIfAbsent(text, _ -> new Cell()));
          }
        });
  }

  /** The element of a value at a fixed position. */
  private Cell item(Cell value, int index) {
    Cell item = new Cell();
    flow.each(
        value,
        each -> {
          if (each instanceof Box box) {
            boolean known = !box.changed && index < box.items.size();
            flow.flow(known ? box.items.get(index) : box.content, item);
          } else {
            flow.add(item, element(each));
          }
        });
    return item;
  }

  private Cell elements(Cell value) {
    Cell elements = new Cell();
    flow.each(
        value,
        each -> {
          if (each instanceof Box box) flow.flow(box.content, elements);
          else flow.add(elements, element(each));
        });
    return elements;
  }

  private static Value element(Value value) {
    return value instanceof External external ? of(external, "[]") : Value.UNKNOWN;
  }

  /** What lies behind a value from elsewhere: {@code .name}, {@code ()}, {@code []}. */
  private static External of(External base, String step) {
    if (!base.unknown()) {
      String path = base.path() + step;
      return path.length() > MAX_PATH ? Value.UNKNOWN : new External(path);
    }
    return step.startsWith(".") ? new External("?" + step) : Value.UNKNOWN;
  }

  private void attribute(Node node) {
    Node object = node.child("object");
    Node name = node.child("attribute");
    if (object == null || name == null) return;
    String text = flow.text(name);
    flow.each(flow.cell(object), value -> member(value, text, flow.cell(node)));
  }

  /** Puts an attribute of a value into a cell. */
  private void member(Value value, String name, Cell into) {
    switch (value) {
      case External external -> flow.add(into, of(external, "." + name));
      case Own(Scope scope, _) when scope.kind() == Kind.CLASS ->
          inherited(scope, null, name, into);
      case Instance instance -> inherited(instance.type(), instance, name, into);
      case Own own when name.equals("run") || name.equals("warmup") ->
          flow.add(into, new Launcher(own.scope()));
      default -> flow.add(into, new External("?." + name));
    }
  }

  private void inherited(Scope type, @Nullable Value receiver, String name, Cell into) {
    Cell attribute = type.variables.get(name);
    if (attribute == null) {
      flow.add(into, new External("?." + name));
      return;
    }
    flow.each(
        attribute,
        value -> {
          boolean method =
              receiver != null
                  && value instanceof Own own
                  && own.scope().parent().orElse(null) == type;
          flow.add(into, method ? new Own(((Own) value).scope(), receiver) : value);
        });
  }

  private void subscript(Node node) {
    Node object = node.child("value");
    Node index = node.child("subscript");
    if (object == null) return;
    Cell cell = flow.cell(node);
    flow.each(
        flow.cell(object),
        value -> {
          switch (value) {
            case Box box -> entry(box, index, cell);
            case Own(Scope scope, _) when scope.kind() == Kind.FUNCTION ->
                flow.add(cell, new Launcher(scope));
            default -> flow.add(cell, element(value));
          }
        });
  }

  private void entry(Box box, @Nullable Node index, Cell into) {
    if (index == null) {
      flow.flow(box.content, into);
      return;
    }
    flow.each(
        flow.cell(index),
        key -> {
          Object constant = key instanceof Constant(Object known) ? known : null;
          Cell entry = constant == null ? null : box.entries.get(constant);
          if (constant instanceof Long at && at >= 0 && at < box.items.size()) {
            entry = box.items.get(at.intValue());
          }
          flow.flow(entry == null ? box.content : entry, into);
        });
  }

  private void dictionary(Node node) {
    Box box = new Box(List.of());
    for (Node pair : node.children()) {
      Node key = pair.child("key");
      Node value = pair.child("value");
      if (!pair.is("pair") || key == null || value == null) continue;
      flow.flow(flow.cell(value), box.content);
      flow.literal(key).ifPresent(known -> box.entries.put(known, flow.cell(value)));
    }
    flow.add(flow.cell(node), box);
  }

  private void call(Node node) {
    Node function = node.child("function");
    if (function == null) return;
    Cell result = flow.cell(node);
    flow.each(
        flow.cell(function),
        target -> {
          switch (target) {
            case External external -> {
              flow.add(result, of(external, "()"));
              transparent(external.path(), node, result);
            }
            case Own(Scope scope, _) when scope.kind() == Kind.CLASS ->
                flow.add(result, new Instance(scope));
            case Own(Scope scope, var receiver) -> {
              arguments(node, scope, receiver);
              flow.flow(scope.result, result);
            }
            default -> flow.add(result, Value.UNKNOWN);
          }
        });
  }

  private void arguments(Node call, Scope function, @Nullable Value receiver) {
    Node list = call.child("arguments");
    if (list == null || !list.is("argument_list")) return;
    int at = receiver == null ? 0 : 1;
    if (receiver != null && !function.parameters.isEmpty()) {
      flow.add(parameter(function, 0), receiver);
    }
    for (Node each : list.children()) {
      if (each.is("(", ")", ",", "comment", "list_splat", "dictionary_splat")) continue;
      Node value = each.child("value");
      Node name = each.child("name");
      if (each.is("keyword_argument") && value != null && name != null) {
        for (int i = 0; i < function.parameters.size(); i++) {
          boolean named = function.parameters.get(i).name().equals(flow.text(name));
          if (named) flow.flow(flow.cell(value), parameter(function, i));
        }
      } else {
        if (at < function.parameters.size() && function.parameters.get(at).stars() == 0) {
          flow.flow(flow.cell(each), parameter(function, at));
        }
        at++;
      }
    }
  }

  private static Cell parameter(Scope function, int index) {
    return function.variables.computeIfAbsent(
        function.parameters.get(index).name(), _ -> new Cell());
  }

  /** Wrappers whose result is, for our purposes, what they were given. */
  private void transparent(String path, Node call, Cell result) {
    if (!Wrappers.transparent(path)) return;
    Node list = call.child("arguments");
    if (list == null || list.children().size() < 2) return;
    Node first = list.children().get(1);
    flow.each(
        flow.cell(first),
        value -> {
          if (value instanceof Own || value instanceof External) flow.add(result, value);
        });
  }
}
