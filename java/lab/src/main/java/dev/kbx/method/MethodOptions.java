package dev.kbx.method;

import org.jspecify.annotations.Nullable;

/**
 * Which method, and the numbers that it takes.
 *
 * @param method which
 * @param turns of refine; rounds of geak, kernelagent and evolve
 * @param tuning rounds of kernelagent's second stage
 * @param width replies of bestof; descendants of geak, workers of kernelagent, islands of evolve
 * @param answer which kernel of a trajectory counts
 * @param asPublished whether known defects of the published method are kept
 * @param program the command of external; null for others
 */
public record MethodOptions(
    Algorithm method,
    int turns,
    int width,
    int tuning,
    Choice answer,
    boolean asPublished,
    @Nullable String program) {
  /** Options of a method of kbx. */
  public MethodOptions(
      Algorithm method, int turns, int width, int tuning, Choice answer, boolean asPublished) {
    this(method, turns, width, tuning, answer, asPublished, null);
  }
}
