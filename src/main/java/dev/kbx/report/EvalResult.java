package dev.kbx.report;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import dev.kbx.verdict.Verdict;
import dev.kbx.verdict.Verdict.SizeTiming;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One candidate as KernelBench's {@code eval_results.json} has it. KernelBench's tools need every
 * field, so what is not known has the value that they write for a sample that failed, and is named
 * in {@link Judgement#unknown}.
 *
 * @param compiled it loads and compiles; a candidate that raises when it is called does
 * @param correctness false of a cheat and of wrong results, whatever stage found them
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

  /** The calls of a task with fresh values, as many as KernelBench's trials. */
  private static final String ALL_TRIALS = "(5 / 5)";

  /**
   * What it was judged on.
   *
   * @param correctnessTrials null unless all are right: judging ends at the first that is not
   * @param kbx what KernelBench has no place for
   */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  @JsonPropertyOrder({"hardware", "device", "correctness_trials", "kbx"})
  record Metadata(
      String hardware, String device, @Nullable String correctnessTrials, Judgement kbx) {}

  /**
   * The verdict in short; {@code results.jsonl} has all of it.
   *
   * @param sample its number among those of its method, model and round, where {@code sample_id} is
   *     another, as several of them have a sample of that number
   * @param unknown fields beside {@code metadata} whose values say nothing of the candidate
   */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  @JsonPropertyOrder({
    "source",
    "method",
    "model",
    "round",
    "sample",
    "status",
    "stage",
    "message",
    "rule",
    "evidence",
    "flags",
    "unknown"
  })
  record Judgement(
      String source,
      @Nullable String method,
      @Nullable String model,
      @Nullable Integer round,
      @Nullable Integer sample,
      String status,
      String stage,
      @Nullable String message,
      @Nullable String rule,
      @Nullable String evidence,
      List<String> flags,
      List<String> unknown) {
    static Judgement of(Verdict v, int id, List<String> unknown) {
      return new Judgement(
          v.source(),
          v.method(),
          v.model(),
          v.round(),
          v.sample() == id ? null : v.sample(),
          v.status().label(),
          v.stage().label(),
          v.message(),
          v.rule(),
          v.evidence(),
          v.flags(),
          unknown);
    }
  }

  /**
   * How the runtime was measured; empty where it was not. KernelBench also has the mean, the
   * extremes and the deviation of single calls, which are not timed one by one here.
   *
   * @param median milliseconds, the same as the runtime
   * @param numTrials measuring rounds
   */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  @JsonPropertyOrder({"median", "num_trials"})
  record RuntimeStats(@Nullable Double median, @Nullable Integer numTrials) {
    static final RuntimeStats NONE = new RuntimeStats(null, null);

    static RuntimeStats of(SizeTiming timing) {
      return new RuntimeStats(timing.candidateMs(), timing.rounds());
    }
  }

  /**
   * A candidate under a number of its own.
   *
   * @param id the sample's, unless that is taken
   */
  static EvalResult of(Verdict v, int id) {
    Boolean compiled = compiled(v);
    boolean refused = v.status().refuted() || v.withoutPolicy() != null;
    Boolean correct = refused ? Boolean.FALSE : v.exeOk();
    SizeTiming timing = Objects.equals(correct, true) ? timing(v) : null;
    List<String> unknown = new ArrayList<>();
    if (compiled == null) unknown.add("compiled");
    if (correct == null) unknown.add("correctness");
    if (timing == null) unknown.add("runtime");
    var metadata =
        new Metadata(
            v.device().name(),
            v.device().kind(),
            Objects.equals(correct, true) ? ALL_TRIALS : null,
            Judgement.of(v, id, List.copyOf(unknown)));
    return new EvalResult(
        id,
        Objects.equals(compiled, true),
        Objects.equals(correct, true),
        metadata,
        timing == null ? NO_RUNTIME : timing.candidateMs(),
        timing == null ? RuntimeStats.NONE : RuntimeStats.of(timing));
  }

  /** Whether it is right and has no runtime. */
  boolean untimed() {
    return correctness && runtime == NO_RUNTIME;
  }

  /** Of the one size; null where there is none or several. */
  private static @Nullable SizeTiming timing(Verdict v) {
    List<SizeTiming> sizes = v.sizes();
    return Objects.equals(v.perfOk(), true) && sizes != null && sizes.size() == 1
        ? sizes.getFirst()
        : null;
  }

  private static @Nullable Boolean compiled(Verdict v) {
    if (Objects.equals(v.callOk(), true)) return true;
    return switch (v.status()) {
      case RUNTIME_ERROR -> true;
      case REJECTED_STATIC, NO_CODE, NO_ENTRY, SYNTAX_ERROR, IMPORT_ERROR, COMPILE_ERROR -> false;
      default -> null;
    };
  }
}
