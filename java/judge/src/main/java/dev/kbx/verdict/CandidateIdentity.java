package dev.kbx.verdict;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Identity of a candidate in a run. It depends neither on the file's location nor on other
 * candidates.
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

  /** The identity as a JSON array; unique. */
  public String text() {
    return Json.mapper()
        .writeValueAsString(Arrays.asList(suite, task, method, model, sample, round, source));
  }
}
