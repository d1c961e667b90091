package dev.kbx.facts;

import dev.kbx.program.Program;
import dev.kbx.program.Scope;
import dev.kbx.syntax.CodeSize;
import dev.kbx.syntax.LineCount;
import dev.kbx.syntax.Node;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Code metrics of a program.
 *
 * @param averageComplexity cyclomatic complexity (McCabe 1976) a function; 0 without functions
 * @param maxComplexity of the most complex function; 0 without functions
 * @param maintainabilityIndex from 0 to 100, more is better
 * @param totalLines blank ones included
 * @param codeLines lines that are neither blank nor only comment or docstring
 * @param commentLines lines with a comment
 * @param commentRatio comment lines by all lines
 */
public record Quality(
    double averageComplexity,
    int maxComplexity,
    double maintainabilityIndex,
    int totalLines,
    int codeLines,
    int commentLines,
    double commentRatio) {

  /** Measures a program; of broken source, the parsed part. */
  public static Quality of(Program program) {
    Node root = program.module().node();
    Complexity complexity = Complexity.of(program, root);
    LineCount lines = LineCount.of(program.source(), root);
    List<Integer> functions = complexity.functions();
    return new Quality(
        functions.stream().mapToInt(Integer::intValue).average().orElse(0),
        functions.stream().mapToInt(Integer::intValue).max().orElse(0),
        maintainability(Halstead.of(program, root).volume(), complexity.total(), lines),
        lines.total(),
        lines.code(),
        lines.comments(),
        lines.total() == 0 ? 0 : (double) lines.comments() / lines.total());
  }

  /**
   * The index of Oman and Hagemeister (1992) with the coefficients and the term for comments of
   * Coleman, Ash, Lowther and Oman (1994), brought from 0..171 to 0..100; lines are logical ones,
   * comments include docstrings.
   */
  private static double maintainability(double volume, int complexity, LineCount lines) {
    if (volume <= 0 || lines.logical() == 0) return 100;
    double percent =
        lines.code() == 0 ? 0 : 100.0 * (lines.comments() + lines.docstrings()) / lines.code();
    double index =
        171
            - 5.2 * Math.log(volume)
            - 0.23 * complexity
            - 16.2 * Math.log(lines.logical())
            + 50 * Math.sin(Math.sqrt(2.46 * Math.toRadians(percent)));
    return Math.clamp(index * 100 / 171, 0, 100);
  }

  /** The figures by the names that result files give them. */
  public Map<String, Double> figures() {
    Map<String, Double> figures = new LinkedHashMap<>();
    figures.put("avg_complexity", averageComplexity);
    figures.put("max_complexity", (double) maxComplexity);
    figures.put("maintainability_index", maintainabilityIndex);
    figures.put("total_lines", (double) totalLines);
    figures.put("code_lines", (double) codeLines);
    figures.put("comment_lines", (double) commentLines);
    figures.put("comment_ratio", commentRatio);
    return figures;
  }

  /**
   * Cyclomatic complexity: 1 plus the number of decision points.
   *
   * @param functions of each function and method; nested ones count separately
   * @param total of the whole file
   */
  private record Complexity(List<Integer> functions, int total) {
    static Complexity of(Program program, Node root) {
      Map<Node, Integer> points = new HashMap<>();
      int all = 0;
      for (Node node : root.all()) {
        if (node.is("function_definition")) points.putIfAbsent(node, 0);
        int more = CodeSize.decisionPoints(node, program.source());
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
}
