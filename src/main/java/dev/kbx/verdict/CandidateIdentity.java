package dev.kbx.verdict;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Which candidate of a run this is. The same answer keeps its identity wherever its file lies and
 * whatever else is judged beside it.
 *
 * @param task {@code Category/name}
 * @param source SHA-256 of the source, hex
 */
public record CandidateIdentity(
    String suite,
    String task,
    @Nullable String method,
    @Nullable String model,
    int sample,
    @Nullable Integer round,
    String source) {

  /** As text, a JSON array: equal for equal identities alone. */
  public String text() {
    return Json.mapper()
        .writeValueAsString(Arrays.asList(suite, task, method, model, sample, round, source));
  }
}
