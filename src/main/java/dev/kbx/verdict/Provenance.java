package dev.kbx.verdict;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Origin of a candidate: its run, and which answer to which task it is.
 *
 * @param run id of the run
 * @param candidate SHA-256 of the source, hex; empty, and absent in JSON, where a published result
 *     has no source
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
 * @param published the record of a published result, without its code; null for verdicts of kbx
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Provenance(
    String run,
    @JsonInclude(JsonInclude.Include.NON_EMPTY) String candidate,
    String source,
    String suite,
    String task,
    String category,
    int sample,
    @Nullable String method,
    @Nullable String model,
    @Nullable Integer round,
    @JsonInclude(JsonInclude.Include.NON_EMPTY) Map<String, String> conditions,
    @Nullable JsonNode published) {
  public Provenance {
    // Both are absent in JSON if they are empty.
    candidate = candidate == null ? "" : candidate;
    conditions = conditions == null ? Map.of() : Map.copyOf(conditions);
  }

  /** The provenance of a candidate that kbx judges. */
  public Provenance(
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
      Map<String, String> conditions) {
    this(
        run,
        candidate,
        source,
        suite,
        task,
        category,
        sample,
        method,
        model,
        round,
        conditions,
        null);
  }

  /** Its identity in the run. */
  public CandidateIdentity identity() {
    return new CandidateIdentity(
        suite, category + "/" + task, method, model, sample, round, candidate);
  }
}
