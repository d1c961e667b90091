package dev.kbx.verdict;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.kbx.verdict.Fields.Doc;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Origin of a candidate: its run, and which answer to which task it is. */
public record Provenance(
    @Doc("id of the run: UTC start time and four letters") String run,
    @Doc(
            "SHA-256 of the source, hex; empty, and absent in JSON, for a [published"
                + " result](import-results.md) without a kernel")
        @JsonInclude(JsonInclude.Include.NON_EMPTY)
        String candidate,
    @Doc("path of the file, with `:line` in a JSONL file") String source,
    @Doc("name of the suite, or its folder") String suite,
    @Doc("name of the task") String task,
    @Doc("category of the task, or its level") String category,
    @Doc("number of the candidate for its task, method, model and round, from 0") int sample,
    @Doc("how the answer was made, where the source states it") @Nullable String method,
    @Doc("which model made it, where the source states it") @Nullable String model,
    @Doc("iteration of a refining method, from 0, where the source states it")
        @Nullable Integer round,
    @Doc("what the answer was generated under; absent where nothing is known")
        @JsonInclude(JsonInclude.Include.NON_EMPTY)
        Map<String, String> conditions,
    @Doc("of a published result, the record that states it, without the kernel")
        @Nullable JsonNode published) {
  public Provenance {
    // Both are absent in JSON if they are empty.
    candidate = candidate == null ? "" : candidate;
    conditions = conditions == null ? Map.of() : Map.copyOf(conditions);
  }

  /** The candidate's identity in the run. */
  public CandidateIdentity identity() {
    return new CandidateIdentity(
        suite, category + "/" + task, method, model, sample, round, candidate);
  }
}
