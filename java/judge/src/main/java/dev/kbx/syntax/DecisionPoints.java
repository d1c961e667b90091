package dev.kbx.syntax;

/** Decision points, by which cyclomatic complexity is counted (McCabe 1976). */
public final class DecisionPoints {
  private DecisionPoints() {}

  /** The points of one node, without those below it. */
  public static int of(Node node, PythonSource source) {
    return switch (node.kind()) {
      case "if_statement", "elif_clause", "conditional_expression", "boolean_operator" -> 1;
      case "for_in_clause", "if_clause", "except_clause", "except_group_clause" -> 1;
      case "assert_statement" -> 1;
      case "for_statement", "while_statement" -> 1 + otherwise(node);
      case "try_statement" -> otherwise(node);
      case "case_clause" -> source.text(node).matches("case\\s+_\\s*:(?s:.*)") ? 0 : 1;
      default -> 0;
    };
  }

  private static int otherwise(Node node) {
    return node.children().stream().anyMatch(child -> child.is("else_clause")) ? 1 : 0;
  }
}
