package dev.kbx.verdict;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import com.fasterxml.jackson.annotation.JsonValue;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * One candidate's verdict, a line of {@code results.jsonl}: provenance and judgement, flattened
 * into one JSON object. What was not measured is null here and absent in JSON.
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
@JsonPropertyOrder({
  "run",
  "candidate",
  "source",
  "suite",
  "task",
  "category",
  "sample",
  "method",
  "model",
  "round",
  "status",
  "stage",
  "call_ok",
  "exe_ok",
  "perf_ok",
  "message",
  "rule",
  "evidence",
  "flags"
})
public record Verdict(@JsonUnwrapped Provenance provenance, @JsonUnwrapped Judgement judgement) {
  /**
   * Geometric mean over all sizes of t_baseline / t_candidate with its 95 % interval.
   *
   * @param low lower end of the interval; 0, and absent in JSON, without one
   * @param high upper end; infinite, and absent in JSON, without one
   * @param baseline {@code eager}, {@code compile}, {@code max-autotune}, or the best of them as
   *     {@code best (compile)}
   */
  public record Speedup(
      double value,
      @JsonInclude(value = JsonInclude.Include.CUSTOM, valueFilter = NoEnd.class) double low,
      @JsonInclude(value = JsonInclude.Include.CUSTOM, valueFilter = NoEnd.class) double high,
      String baseline) {
    public Speedup {
      if (high == 0) high = Double.POSITIVE_INFINITY; // Absent in JSON.
    }

    /** A published speedup, whose interval excludes nothing. */
    public static Speedup asPublished(double value) {
      return new Speedup(value, 0, Double.POSITIVE_INFINITY, AS_PUBLISHED);
    }

    /** Whether it has an interval: one that excludes something. */
    public boolean hasInterval() {
      return Double.isFinite(high);
    }

    /** The baseline of published speedups, whatever their authors measured. */
    public static final String AS_PUBLISHED = "as published";
  }

  /** Equal to an end of an interval that excludes nothing. */
  static final class NoEnd {
    @Override
    public boolean equals(@Nullable Object end) {
      return end instanceof Double d && (d == 0 || d.isInfinite());
    }

    @Override
    public int hashCode() {
      return 0;
    }
  }

  /**
   * The candidate against one baseline, or why there is no such baseline.
   *
   * @param name {@code eager}, {@code compile} or {@code max-autotune}
   * @param speedup geometric mean over all sizes
   * @param low lower end of its 95 % interval
   * @param sizesMs milliseconds of each size, in the order of the verdict's {@code sizes}: measured
   *     for eager; for the others eager's time divided by the gain of compiling
   * @param measured when that gain was measured, for the oldest size; null for eager, which is
   *     always measured with the candidate
   * @param failure why there is no such baseline for this task; then all figures are null
   * @param raw of each size the rounds of the compiled reference beside eager that its gain follows
   *     from, in the form of {@code dev.kbx.timing.RawRounds}; null for eager, and in verdicts of
   *     earlier versions
   */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record Baseline(
      String name,
      @Nullable Double speedup,
      @Nullable Double low,
      @Nullable Double high,
      @Nullable List<Double> sizesMs,
      @Nullable Instant measured,
      @Nullable String failure,
      @Nullable List<String> raw) {

    /** The speedup with the run's name of the baseline; null if there is none. */
    public @Nullable Speedup against(String baseline) {
      return speedup == null || low == null || high == null
          ? null
          : new Speedup(speedup, low, high, baseline);
    }
  }

  /**
   * One benchmark size.
   *
   * @param shape the size in words, as the task names it
   * @param candidateMs median device time of the candidate, milliseconds
   * @param referenceMs median device time of the live baseline, milliseconds
   * @param low lower end of the speedup's 95 % interval
   * @param gbs achieved 10⁹ bytes a second, counting inputs and outputs once
   * @param tflops achieved 10¹² floating-point operations a second, if they could be counted
   * @param iou achieved over measured peak bandwidth
   * @param mfu achieved over measured peak arithmetic rate of the task's precision
   * @param rounds measuring rounds of the interval
   * @param intensity floating-point operations for each byte moved
   * @param bound resource that determines {@code solMs}
   * @param solMs the time of a kernel at the speed of light: peak bandwidth and peak rate,
   *     milliseconds
   * @param solScore 1 at {@code solMs}, 0.5 at the reference's time, towards 0 beyond it
   * @param clocks of the device while it was measured
   * @param throttle reasons for reduced clocks, by the driver's names; empty if there were none
   * @param launched the same calls launched from Python, if the other figures are those of CUDA
   *     graphs; the difference is the cost of launching
   * @param hostBound true if the device waits for the host, so that times include the host's; else
   *     null
   * @param peakBytes the most device memory that one call of the candidate held, result and
   *     workspace, as its process reports it
   * @param referencePeakBytes the same of the live baseline
   * @param raw the rounds that the times and the speedup follow from, in the form of {@code
   *     timing.RawRounds}; null in verdicts of earlier versions
   */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record SizeTiming(
      String shape,
      double candidateMs,
      double referenceMs,
      double speedup,
      double low,
      double high,
      @Nullable Double gbs,
      @Nullable Double tflops,
      @Nullable Double iou,
      @Nullable Double mfu,
      int rounds,
      @Nullable Double intensity,
      @Nullable Bound bound,
      @Nullable Double solMs,
      @Nullable Double solScore,
      @Nullable Clocks clocks,
      @Nullable List<String> throttle,
      @Nullable Launched launched,
      @Nullable Boolean hostBound,
      @Nullable Long peakBytes,
      @Nullable Long referencePeakBytes,
      @Nullable String raw) {
    public SizeTiming {
      throttle = throttle == null ? null : List.copyOf(throttle);
    }

    /** A size without its rounds. */
    public SizeTiming(
        String shape,
        double candidateMs,
        double referenceMs,
        double speedup,
        double low,
        double high,
        @Nullable Double gbs,
        @Nullable Double tflops,
        @Nullable Double iou,
        @Nullable Double mfu,
        int rounds,
        @Nullable Double intensity,
        @Nullable Bound bound,
        @Nullable Double solMs,
        @Nullable Double solScore,
        @Nullable Clocks clocks,
        @Nullable List<String> throttle,
        @Nullable Launched launched,
        @Nullable Boolean hostBound,
        @Nullable Long peakBytes,
        @Nullable Long referencePeakBytes) {
      this(
          shape,
          candidateMs,
          referenceMs,
          speedup,
          low,
          high,
          gbs,
          tflops,
          iou,
          mfu,
          rounds,
          intensity,
          bound,
          solMs,
          solScore,
          clocks,
          throttle,
          launched,
          hostBound,
          peakBytes,
          referencePeakBytes,
          null);
    }
  }

  /**
   * Times of a launch-bound size, including launches.
   *
   * @param candidateMs median milliseconds of a call of the candidate, launched from Python
   * @param referenceMs the same of the live baseline
   * @param low lower end of the speedup's 95 % interval
   */
  public record Launched(
      double candidateMs, double referenceMs, double speedup, double low, double high) {}

  /** What limits a size. */
  public enum Bound {
    /** Memory traffic takes longest. */
    MEMORY,
    /** Arithmetic takes longest. */
    COMPUTE,
    /** Both take less than an empty kernel. */
    LAUNCH;

    /** The name used in files and pages: {@code memory, compute, launch}. */
    @JsonValue
    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** Medians over the rounds of a size; null if the driver does not report them. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record Clocks(
      @Nullable Double smMhz,
      @Nullable Double memoryMhz,
      @Nullable Double celsius,
      @Nullable Double watts) {}

  /** Largest demands over all launches of the candidate; bytes of shared memory and of spills. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record Compile(
      String arch,
      @Nullable Integer registers,
      @Nullable Integer sharedBytes,
      @Nullable Integer spills) {}

  /** One launch signature, compiled. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record Kernel(
      String kernel,
      String arch,
      @Nullable Integer registers,
      @Nullable Integer sharedBytes,
      @Nullable Integer spills,
      @Nullable Double seconds) {}

  /**
   * Which operations computed the results, as reported by the candidate's process.
   *
   * @param kernelShare share of the results that the candidate's kernels computed, 0 to 1
   * @param foreignShare share of the work that other operations did, 0 to 1; null in verdicts of
   *     earlier versions
   * @param operations other operations that contributed, the largest first
   */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record Origin(
      double kernelShare, @Nullable Double foreignShare, List<Operation> operations) {
    public Origin {
      operations = List.copyOf(operations);
    }
  }

  /**
   * An operation that computed in place of a kernel.
   *
   * @param line in the candidate; null when unknown
   * @param share elements that it read and wrote, relative to those of arguments and results
   */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record Operation(String name, @Nullable Integer line, double share) {}

  /**
   * How a candidate would have ended by rules that do not ask who computes, as the published ones.
   *
   * @param stage the stage that decided
   */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record WithoutPolicy(Status status, Stage stage, @Nullable String message) {}

  /**
   * A property of calls on which a candidate fails.
   *
   * @param property as listed in docs/verdicts.md; several joined by {@code +} if the candidate is
   *     right for each alone
   * @param call the first call that failed, in words
   * @param status how it failed
   */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record Break(
      String property,
      @JsonProperty("case") String call,
      Status status,
      @Nullable String message) {}

  /** One wrong element: which output ({@code output[0]}), where in it, and both values as text. */
  public record Mismatch(String output, List<Long> index, String expected, String got) {}

  /** One stack frame inside the candidate's source. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record Frame(int line, String function, @Nullable String text) {}

  /**
   * Device that the candidate ran on; {@code uuid} and {@code driver} exist for GPUs.
   *
   * @param kind {@code cpu}, {@code cuda}, or {@code published} for the device of results that are
   *     not kbx's
   */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record Device(
      String kind,
      String name,
      @Nullable String uuid,
      @Nullable String driver,
      @Nullable String arch) {
    private static final String PUBLISHED = "published";

    /**
     * The device of published results.
     *
     * @param name as published; null if it is not stated
     */
    public static Device published(@Nullable String name) {
      return new Device(PUBLISHED, name == null ? "not stated" : name, null, null, null);
    }

    /** Whether kbx knows nothing of it but what others published. */
    public boolean asPublished() {
      return kind.equals(PUBLISHED);
    }
  }
}
