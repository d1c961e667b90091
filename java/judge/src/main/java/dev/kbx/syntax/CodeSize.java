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
    for (Node node : root.all()) points += DecisionPoints.of(node, source);
    return new CodeSize(LineCount.of(source, root).code(), 1 + points);
  }
}
