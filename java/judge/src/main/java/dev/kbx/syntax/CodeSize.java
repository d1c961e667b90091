package dev.kbx.syntax;

import java.util.Optional;

/**
 * How much code a source is.
 *
 * @param lines that are neither blank nor just comment or docstring
 * @param complexity cyclomatic complexity of all of it: 1 plus the number of decision points
 */
public record CodeSize(int lines, int complexity) {
  /** Empty where the parser finds an error. */
  public static Optional<CodeSize> of(PythonSource source) {
    return source.tree().filter(_ -> source.understood()).map(root -> of(root, source));
  }

  private static CodeSize of(Node root, PythonSource source) {
    int points = 0;
    for (Node node : root.all()) points += decisionPoints(node, source);
    return new CodeSize(LineCount.of(source, root).code(), 1 + points);
  }

  /** Decision points (McCabe 1976) of one node, without those below it. */
  public static int decisionPoints(Node node, PythonSource source) {
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
