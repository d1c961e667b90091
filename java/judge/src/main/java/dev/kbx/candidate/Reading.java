package dev.kbx.candidate;

import java.util.List;

/**
 * Result of reading sources: candidates in the order of their places, and problems.
 *
 * @param unselected number of further candidates, for tasks that were not selected
 */
public record Reading(List<Candidate> candidates, List<Problem> problems, int unselected) {
  public Reading {
    candidates = List.copyOf(candidates);
    problems = List.copyOf(problems);
  }

  /** The problems of a kind, in their order. */
  public List<Problem> problems(Problem.Kind kind) {
    return problems.stream().filter(problem -> problem.kind() == kind).toList();
  }
}
