package dev.kbx.candidate;

import dev.kbx.task.Task;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Collects sources for other suites; reports one line for each suite. */
final class Misdirected {
  private record Found(String file, @Nullable Integer line, int more) {}

  private final String suite;
  private final Map<String, Found> found = new LinkedHashMap<>();

  /**
   * @param suite the suite that is judged
   */
  Misdirected(String suite) {
    this.suite = suite;
  }

  void add(String file, @Nullable Integer line, String other) {
    found.merge(
        other,
        new Found(file, line, 0),
        (first, _) -> new Found(first.file, first.line, first.more + 1));
  }

  /** The first source of each suite, and the number of further ones. */
  List<Problem> problems() {
    List<Problem> problems = new ArrayList<>();
    found.forEach((other, first) -> problems.add(problem(other, first)));
    return problems;
  }

  private Problem problem(String other, Found first) {
    String more =
        switch (first.more) {
          case 0 -> "";
          case 1 -> ", as is 1 more";
          default -> ", as are %,d more".formatted(first.more);
        };
    return new Problem(
        first.file,
        first.line,
        other.equals(Task.OWN)
            ? "is for a reference of its own%s, and this run judges %s; give that with --reference"
                .formatted(more, suite)
            : "is for the suite %s%s, and this run judges %s; give it --suite %s"
                .formatted(other, more, suite, other));
  }
}
