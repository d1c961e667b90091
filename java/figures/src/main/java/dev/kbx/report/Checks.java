package dev.kbx.report;

import dev.kbx.check.Severity;
import java.util.List;

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
}
