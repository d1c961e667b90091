package dev.kbx.published;

import dev.kbx.candidate.Problem;
import java.util.List;

/**
 * What was read.
 *
 * @param results in the order of the records, those without an outcome included
 * @param problems records that cannot be used, and why
 * @param records how many records were read
 * @param repeated how many of them say again what an earlier one says
 * @param unusable how many of them cannot be used: each is among the problems
 * @param ofOtherTasks how many of these are for no task of the suite
 * @param moved how many are for tasks that the suite has in another category than they say
 */
public record PublishedReading(
    List<PublishedResult> results,
    List<Problem> problems,
    int records,
    int repeated,
    int unusable,
    int ofOtherTasks,
    int moved) {
  public PublishedReading {
    results = List.copyOf(results);
    problems = List.copyOf(problems);
  }

  /** The results that state an outcome. */
  public List<PublishedResult> stated() {
    return results.stream().filter(result -> result.outcome() != null).toList();
  }
}
