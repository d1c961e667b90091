package dev.kbx.facts;

import dev.kbx.program.Program;
import dev.kbx.program.Scope;
import dev.kbx.syntax.Node;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Operators and operands (Halstead 1977) of expressions: arithmetic, comparison, logic. An operand
 * is identified by its name or value within its function; a computed one is always new. Signatures
 * and decorators are left out.
 */
final class Halstead {
  private final Program program;
  private final Set<String> operators = new HashSet<>();
  private final Set<Object> operands = new HashSet<>();
  private int length;

  private record Operand(Scope scope, Object value) {}

  private Halstead(Program program) {
    this.program = program;
  }

  static Halstead of(Program program, Node root) {
    Halstead found = new Halstead(program);
    Deque<Node> open = new ArrayDeque<>();
    open.push(root);
    while (!open.isEmpty()) {
      Node node = open.pop();
      // Signatures and decorators do not compute.
      if (node.is("parameters", "decorator") || "return_type".equals(node.field())) continue;
      found.take(node);
      node.children().forEach(open::push);
    }
    return found;
  }

  /** Length times the binary logarithm of the vocabulary. */
  double volume() {
    int vocabulary = operators.size() + operands.size();
    return vocabulary == 0 ? 0 : length * Math.log(vocabulary) / Math.log(2);
  }

  private void take(Node node) {
    Node left = node.child("left");
    Node right = node.child("right");
    Node argument = node.child("argument");
    Node operator = node.child("operator");
    String sign = operator == null ? "" : program.text(operator);
    switch (node.kind()) {
      case "binary_operator" -> {
        if (left != null && right != null) add(sign, left, right);
      }
      case "augmented_assignment" -> {
        if (left != null && right != null) add(sign.replace("=", ""), left, right);
      }
      case "unary_operator" -> {
        if (argument != null) add("unary " + sign, argument);
      }
      case "not_operator" -> {
        if (argument != null) add("not", argument);
      }
      case "boolean_operator" -> {
        if (left != null && right != null) logic(node, sign, left, right);
      }
      case "comparison_operator" -> comparison(node);
      default -> {}
    }
  }

  /** {@code a and b and c} is one operator with three operands, though the tree nests it. */
  private void logic(Node node, String sign, Node left, Node right) {
    boolean nested = left.is("boolean_operator") && same(left, sign);
    boolean inner =
        program
            .parent(node)
            .filter(outer -> outer.is("boolean_operator") && same(outer, sign))
            .filter(outer -> node.equals(outer.child("left")))
            .isPresent();
    if (!inner) {
      operators.add(sign);
      length++;
    }
    if (!nested) operand(left);
    operand(right);
  }

  private boolean same(Node node, String sign) {
    Node operator = node.child("operator");
    return operator != null && program.text(operator).equals(sign);
  }

  private void comparison(Node node) {
    for (Node child : node.children()) {
      if ("operators".equals(child.field())) {
        operators.add(program.text(child));
        length++;
      } else {
        operand(child);
      }
    }
  }

  private void add(String operator, Node... values) {
    operators.add(operator);
    length++;
    for (Node value : values) operand(value);
  }

  private void operand(Node node) {
    Node inner = node;
    while (inner.is("parenthesized_expression") && inner.children().size() == 3) {
      inner = inner.children().get(1);
    }
    length++;
    Node name = inner.child("attribute");
    Scope function = function(node);
    operands.add(
        switch (inner.kind()) {
          case "identifier", "true", "false", "none" -> new Operand(function, program.text(inner));
          case "attribute" -> name == null ? inner : new Operand(function, program.text(name));
          case "integer", "float", "string", "concatenated_string" ->
              new Operand(function, literal(inner));
          default -> inner;
        });
  }

  private Object literal(Node node) {
    Object value = program.source().literal(node).orElse(node);
    // 1 and 1.0 are the same operand; a name is not the text that spells it.
    return switch (value) {
      case Number number -> number.doubleValue();
      case String text -> List.of(text);
      default -> value;
    };
  }

  private Scope function(Node node) {
    Scope scope = program.scopeOf(node);
    while (scope.kind() != Scope.Kind.FUNCTION && scope.parent().isPresent()) {
      scope = scope.parent().get();
    }
    return scope;
  }
}
