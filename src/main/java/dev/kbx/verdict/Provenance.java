package dev.kbx.verdict;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Origin of a candidate: its run, and which answer to which task it is.
 *
 * @param run id of the run
 * @param candidate SHA-256 of the source, hex
 * @param source a path, with {@code :line} in a JSONL file
 * @param suite name of the task's suite
 * @param task name of the task
 * @param category its category, or level
 * @param sample number of this candidate among those for the same task, method, model and round,
 *     from 0
 * @param method how it was generated; null if the source does not state it
 * @param model by which model; null if the source does not state it
 * @param round iteration of a refining method, from 0; null if the source does not state it
 * @param conditions under which it was generated, by name: {@code hardware}, {@code shots}, …;
 *     empty if the source does not state them
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Provenance(
    String run,
    String candidate,
    String source,
    String suite,
    String task,
    String category,
    int sample,
    @Nullable String method,
    @Nullable String model,
    @Nullable Integer round,
    @JsonInclude(JsonInclude.Include.NON_EMPTY) Map<String, String> conditions) {
  public Provenance {
    // Absent in JSON if it is empty.
    conditions = conditions == null ? Map.of() : Map.copyOf(conditions);
  }

  /** Its identity in the run. */
  public CandidateIdentity identity() {
    return new CandidateIdentity(
        suite, category + "/" + task, method, model, sample, round, candidate);
  }
}
