package dev.kbx.report;

import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import dev.kbx.verdict.Field;
import dev.kbx.verdict.Fields;
import dev.kbx.verdict.Verdict;
import dev.kbx.verdict.Verdict.SizeTiming;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * One candidate in KernelBench's {@code eval_results.json}. Its tools need every field, so an
 * unknown field has the value of a failed sample and is listed in {@code unknown}.
 *
 * @param compiled it loads and compiles; true for a candidate that raises when called
 * @param correctness false for cheats and wrong results, whatever stage found them; as in
 *     KernelBench, true for one that ended while it was timed
 * @param runtime milliseconds at the published size, or -1
 */
@JsonPropertyOrder({"sample_id", "compiled", "correctness", "metadata", "runtime", "runtime_stats"})
record EvalResult(
    int sampleId,
    boolean compiled,
    boolean correctness,
    Metadata metadata,
    double runtime,
    RuntimeStats runtimeStats) {
  private static final double NO_RUNTIME = -1;

  /** The calls of a task with fresh values: as many as KernelBench has trials. */
  private static final String ALL_TRIALS = "(5 / 5)";

  /**
   * Device and details of the judgement.
   *
   * @param correctnessTrials null unless all are right, as judging ends at the first failure
   * @param kbx what KernelBench has no field for
   */
  @JsonPropertyOrder({"hardware", "device", "correctness_trials", "kbx"})
  record Metadata(
      String hardware, String device, @Nullable String correctnessTrials, ObjectNode kbx) {}

  /** Of the verdict, beside what KernelBench has fields for; results.jsonl has all of it. */
  private static final List<Field<Verdict>> SUMMARY =
      Fields.VERDICT.select(
          "source, method, model, round, sample, status, stage, precision, policy, message, rule,"
              + " evidence, flags");

  /**
   * Summary of a verdict.
   *
   * @param id the sample's number here; its original one is told if it differs, because several
   *     methods, models or rounds have a sample of that number
   * @param unknown fields beside {@code metadata} whose values are unknown
   */
  private static ObjectNode summary(Verdict v, int id, List<String> unknown) {
    ObjectNode summary = Field.json(SUMMARY, v);
    if (v.provenance().sample() == id) summary.remove("sample");
    return summary.putPOJO("unknown", unknown);
  }

  /**
   * Measurement of the runtime; empty if not measured. KernelBench also has mean, extremes and
   * deviation of single calls, which kbx does not time individually.
   *
   * @param median milliseconds, the same as the runtime
   * @param numTrials measuring rounds
   */
  @JsonPropertyOrder({"median", "num_trials"})
  record RuntimeStats(@Nullable Double median, @Nullable Integer numTrials) {
    static final RuntimeStats NONE = new RuntimeStats(null, null);

    static RuntimeStats of(SizeTiming timing) {
      return new RuntimeStats(timing.candidateMs(), timing.rounds());
    }
  }

  /**
   * The entry of a verdict, under a unique sample number.
   *
   * @param id the sample's number, unless that is taken
   */
  static EvalResult of(Verdict v, int id) {
    Boolean compiled = compiled(v);
    Boolean correct = v.judgement().ownRight();
    SizeTiming timing = Objects.equals(correct, true) ? timing(v) : null;
    List<String> unknown = new ArrayList<>();
    if (compiled == null) unknown.add("compiled");
    if (correct == null) unknown.add("correctness");
    if (timing == null) unknown.add("runtime");
    var metadata =
        new Metadata(
            v.judgement().device().name(),
            v.judgement().device().kind(),
            Objects.equals(correct, true) ? ALL_TRIALS : null,
            summary(v, id, List.copyOf(unknown)));
    return new EvalResult(
        id,
        Objects.equals(compiled, true),
        Objects.equals(correct, true),
        metadata,
        timing == null ? NO_RUNTIME : timing.candidateMs(),
        timing == null ? RuntimeStats.NONE : RuntimeStats.of(timing));
  }

  /** Whether it is correct without a runtime. */
  boolean untimed() {
    return correctness && runtime == NO_RUNTIME;
  }

  /** The timing of the only size; null if there is none or several. */
  private static @Nullable SizeTiming timing(Verdict v) {
    List<SizeTiming> sizes = v.judgement().sizes();
    return Objects.equals(v.judgement().perfOk(), true) && sizes != null && sizes.size() == 1
        ? sizes.getFirst()
        : null;
  }

  private static @Nullable Boolean compiled(Verdict v) {
    if (Objects.equals(v.judgement().callOk(), true)) return true;
    return switch (v.judgement().status()) {
      case RUNTIME_ERROR -> true;
      case REJECTED_STATIC, NO_CODE, NO_ENTRY, SYNTAX_ERROR, IMPORT_ERROR, COMPILE_ERROR -> false;
      default -> null;
    };
  }
}
