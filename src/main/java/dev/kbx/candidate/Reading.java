package dev.kbx.candidate;

import java.util.List;

/**
 * What a set of sources held: candidates in the order of their places, and what was unusable.
 *
 * @param unselected how many more there are, for tasks of the suite that were not selected
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
