package dev.kbx.program;

import dev.kbx.program.Value.External;
import dev.kbx.syntax.Node;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Computes an expression for each element of a constant: {@code chr(c ^ 7) for c in codes}. */
final class Comprehension {
  private static final int MAX_DEPTH = 24;
  private static final int MAX_ITEMS = 20_000;

  private final ValueFlow flow;
  private final String variable;
  private final Node body;
  private final Budget budget;

  Comprehension(ValueFlow flow, String variable, Node body, Budget budget) {
    this.flow = flow;
    this.variable = variable;
    this.body = body;
    this.budget = budget;
  }

  /** The list of results; null if one cannot be computed. */
  @Nullable Object over(Object sequence) {
    List<Object> items = ConstantEvaluator.items(sequence);
    if (items == null || items.size() > MAX_ITEMS) return null;
    List<Object> results = new ArrayList<>();
    for (Object item : items) {
      Object result = value(body, item, MAX_DEPTH);
      if (result == null) return null;
      results.add(result);
    }
    return results;
  }

  private @Nullable Object value(Node node, Object item, int depth) {
    if (depth == 0 || budget.spent()) return null;
    Object value = computed(node, item, depth);
    return value != null && budget.take(value) ? value : null;
  }

  private @Nullable Object computed(Node node, Object item, int depth) {
    Function<Node, @Nullable Object> inner = child -> value(child, item, depth - 1);
    return switch (node.kind()) {
      case "identifier" -> flow.text(node).equals(variable) ? item : constant(node);
      case "parenthesized_expression" ->
          node.children().size() == 3 ? inner.apply(node.children().get(1)) : null;
      case "binary_operator" -> {
        Node operator = node.child("operator");
        Object left = child(node, "left", inner);
        Object right = child(node, "right", inner);
        yield operator == null || left == null || right == null
            ? null
            : ConstantEvaluator.binary(flow.text(operator), left, right);
      }
      case "unary_operator" -> {
        Object argument = child(node, "argument", inner);
        yield argument == null
            ? null
            : ConstantEvaluator.unary(flow.text(node).substring(0, 1), argument);
      }
      case "subscript" -> {
        Object owner = child(node, "value", inner);
        Object index = child(node, "subscript", inner);
        yield owner != null && index instanceof Long at ? flow.folding().at(owner, at) : null;
      }
      case "call" -> call(node, inner);
      default -> constant(node);
    };
  }

  private static @Nullable Object child(
      Node node, String role, Function<Node, @Nullable Object> inner) {
    Node child = node.child(role);
    return child == null ? null : inner.apply(child);
  }

  private @Nullable Object constant(Node node) {
    Cell cell = flow.cell(node);
    return cell.values.size() == 1 ? Constants.raw(cell.values.iterator().next(), budget) : null;
  }

  private @Nullable Object call(Node node, Function<Node, @Nullable Object> inner) {
    Node function = node.child("function");
    Node list = node.child("arguments");
    if (function == null || list == null) return null;
    List<Object> arguments = new ArrayList<>();
    for (Node each : list.children()) {
      if (each.is("(", ")", ",")) continue;
      Object argument = inner.apply(each);
      if (argument == null) return null;
      arguments.add(argument);
    }
    Node object = function.child("object");
    Node name = function.child("attribute");
    if (object != null && name != null) {
      Object receiver = inner.apply(object);
      if (receiver != null) return ConstantEvaluator.method(receiver, flow.text(name), arguments);
    }
    Cell target = flow.cell(function);
    return target.values.size() == 1
            && target.values.iterator().next() instanceof External(String path)
            && ConstantEvaluator.knows(path)
        ? ConstantEvaluator.call(path, arguments)
        : null;
  }
}
