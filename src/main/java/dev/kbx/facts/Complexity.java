package dev.kbx.facts;

import dev.kbx.program.Program;
import dev.kbx.program.Scope;
import dev.kbx.syntax.DecisionPoints;
import dev.kbx.syntax.Node;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Cyclomatic complexity: 1 plus the number of decision points.
 *
 * @param functions of each function and method; nested ones count separately
 * @param total of the whole file
 */
record Complexity(List<Integer> functions, int total) {
  static Complexity of(Program program, Node root) {
    Map<Node, Integer> points = new HashMap<>();
    int all = 0;
    for (Node node : root.all()) {
      if (node.is("function_definition")) points.putIfAbsent(node, 0);
      int more = DecisionPoints.of(node, program.source());
      if (more == 0) continue;
      all += more;
      Scope scope = program.scopeOf(node);
      while (scope.kind() != Scope.Kind.FUNCTION && scope.parent().isPresent()) {
        scope = scope.parent().get();
      }
      points.merge(scope.node(), more, Integer::sum);
    }
    List<Integer> functions =
        points.entrySet().stream()
            .filter(each -> each.getKey().is("function_definition"))
            .map(each -> 1 + each.getValue())
            .toList();
    return new Complexity(functions, 1 + all);
  }
}
