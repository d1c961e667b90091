package dev.kbx.report;

import dev.kbx.check.Finding;
import dev.kbx.check.Severity;
import dev.kbx.check.StaticReport;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Result of {@code kbx check}.
 *
 * @param problems what could not be read
 * @param least minimum severity of shown findings; the others are only counted
 * @param seconds wall time of reading and checking
 */
public record Checks(List<Checked> sources, List<String> problems, Severity least, double seconds) {
  public Checks {
    sources = List.copyOf(sources);
    problems = List.copyOf(problems);
  }

  long broken() {
    return sources.stream().filter(source -> source.report().broken().isPresent()).count();
  }

  long count(Severity severity) {
    return sources.stream()
        .flatMap(source -> source.report().findings().stream())
        .filter(finding -> finding.severity() == severity)
        .count();
  }

  /**
   * One source that {@code kbx check} has checked.
   *
   * @param file path as named by the user, or found in a named folder
   * @param row line in a file of predictions; null for a Python file
   * @param task the task it was checked against, {@code Category/name}; null if it was checked
   *     without a task
   */
  public record Checked(
      String file, @Nullable Integer row, @Nullable String task, StaticReport report) {

    /** {@code file}, or {@code file:row}. */
    String name() {
      return row == null ? file : file + ":" + row;
    }

    /** Whether the static stage refuses it. */
    public boolean refused() {
      return report.broken().isPresent() || !report.rejections().isEmpty();
    }

    List<Finding> findings(Severity least) {
      return report.findings().stream().filter(f -> f.severity().compareTo(least) <= 0).toList();
    }
  }
}
