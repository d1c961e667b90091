package dev.kbx.verdict;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import com.fasterxml.jackson.annotation.JsonValue;
import dev.kbx.verdict.Fields.Doc;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One candidate's verdict, a line of {@code results.jsonl}: provenance and judgement, flattened
 * into one JSON object. What was not measured is null here and absent in JSON.
 */
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
   * The mean over all sizes of t_baseline / t_candidate with its 95 % interval: the geometric one
   * or, if sizes have weights, the speedup of the time that these add up to.
   */
  public record Speedup(
      @Doc(
              "baseline time ÷ candidate time over all sizes: their geometric mean, or of the total"
                  + " time where sizes have [weights](timing.md#weights)")
          double value,
      @Doc("lower end of the speedup's 95 % interval; absent for a published speedup")
          @JsonInclude(value = JsonInclude.Include.CUSTOM, valueFilter = NoEnd.class)
          double low,
      @Doc("upper end of the speedup's 95 % interval; absent for a published speedup")
          @JsonInclude(value = JsonInclude.Include.CUSTOM, valueFilter = NoEnd.class)
          double high,
      @Doc(
              "what the speedup is against: `eager`, `compile`, `max-autotune`, `best (compile)`,"
                  + " with `, warm cache` where that was asked for")
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

  /** The candidate against one baseline, or why there is no such baseline. */
  public record Baseline(
      @Doc("`eager`, `compile`, `max-autotune`, or `expert` for the kernel of `--baseline FILE`")
          String name,
      @Doc("as `speedup.value`, against this baseline; for `expert` the share of its speed")
          @Nullable Double speedup,
      @Doc("lower end of its 95 % interval") @Nullable Double low,
      @Doc("upper end of its 95 % interval") @Nullable Double high,
      @Doc(
              value =
                  "time of each of `sizes`: measured for eager and expert; for the others eager's"
                      + " time divided by the gain of compiling",
              unit = "milliseconds")
          @Nullable List<Double> sizesMs,
      @Doc(
              "when the compiled reference was timed, ISO 8601; absent for eager and expert, which"
                  + " are timed with the candidate")
          @Nullable Instant measured,
      @Doc("why the task has no such baseline; then there are no figures") @Nullable String failure,
      @Doc(
              "of a compiled reference, for each of `sizes` the rounds beside eager, and of an"
                  + " expert's kernel those beside the candidate, as in `sizes[].raw`")
          @Nullable List<String> raw,
      @Nullable Geometric geometric) {
    /** Name of an expert's kernel. */
    public static final String EXPERT = "expert";

    /** The speedup with the run's name of the baseline; null if there is none. */
    public @Nullable Speedup against(String baseline) {
      return speedup == null || low == null || high == null
          ? null
          : new Speedup(speedup, low, high, baseline);
    }
  }

  /** Beside a weighted speedup, the mean without the weights. */
  public record Geometric(
      @Doc("where sizes have weights, the geometric mean over all sizes, each counting once")
          double value,
      @Doc("lower end of its 95 % interval") double low,
      @Doc("upper end of its 95 % interval") double high) {}

  /**
   * One benchmark size.
   *
   * @param clocks of the device while it was measured
   * @param launched the same calls launched from Python, if the other figures are those of CUDA
   *     graphs; the difference is the cost of launching
   */
  public record SizeTiming(
      @Doc("a benchmark size in words, as the task names it") String shape,
      @Doc(value = "median time of the candidate on the device", unit = "milliseconds")
          double candidateMs,
      @Doc(value = "median time of eager PyTorch, measured beside it", unit = "milliseconds")
          double referenceMs,
      @Doc("the reference's time ÷ the candidate's") double speedup,
      @Doc("lower end of the size's 95 % interval") double low,
      @Doc("upper end of the size's 95 % interval") double high,
      @Doc(value = "achieved traffic, inputs and outputs counted once", unit = "10⁹ bytes a second")
          @Nullable Double gbs,
      @Doc(
              value = "achieved arithmetic, where it can be counted",
              unit = "10¹² floating-point operations a second")
          @Nullable Double tflops,
      @Doc("achieved over measured peak bandwidth") @Nullable Double iou,
      @Doc("achieved over measured peak arithmetic rate of the task's precision")
          @Nullable Double mfu,
      @Doc("measuring rounds of the interval") int rounds,
      @Doc("floating-point operations for each byte") @Nullable Double intensity,
      @Doc("what limits the size: `memory`, `compute`, `launch`") @Nullable Bound bound,
      @Doc(
              value = "the time at the speed of light: peak bandwidth and peak rate",
              unit = "milliseconds")
          @Nullable Double solMs,
      @Doc("1 at the speed of light, 0.5 at the reference's time, towards 0 beyond it")
          @Nullable Double solScore,
      @Nullable Clocks clocks,
      @Doc("reasons for reduced clocks, by the driver's names; empty if there were none")
          @Nullable List<String> throttle,
      @Nullable Launched launched,
      @Doc("true if the device waited for the host, so that times include the host's")
          @Nullable Boolean hostBound,
      @Doc(
              value =
                  "the most device memory that a call of the candidate held, result and workspace,"
                      + " as its process reports it",
              unit = "bytes")
          @Nullable Long peakBytes,
      @Doc(value = "the most device memory that a call of the reference held", unit = "bytes")
          @Nullable Long referencePeakBytes,
      @Doc(
              "the rounds that counted, base64, 25 bytes each: what a [certificate](certify.md)"
                  + " spells out")
          @Nullable String raw,
      @Doc(
              "part of the reference's time that the size stands for, 0 to 1, as the task states"
                  + " it; absent where it states none")
          @Nullable Double weight) {
    public SizeTiming {
      throttle = throttle == null ? null : List.copyOf(throttle);
    }

    /** The weights of all sizes of a task; null if it states none. */
    public static @Nullable List<Double> weights(List<SizeTiming> sizes) {
      List<Double> weights =
          sizes.stream().map(SizeTiming::weight).filter(Objects::nonNull).toList();
      return weights.isEmpty() || weights.size() < sizes.size() ? null : weights;
    }
  }

  /** Times of a launch-bound size, including launches. */
  public record Launched(
      @Doc(
              value =
                  "median time of a call launched from Python, where the other figures are those of"
                      + " CUDA graphs",
              unit = "milliseconds")
          double candidateMs,
      @Doc(
              value = "median time of a call of the reference launched from Python",
              unit = "milliseconds")
          double referenceMs,
      @Doc("quotient of the times launched from Python") double speedup,
      @Doc("lower end of its 95 % interval") double low,
      @Doc("upper end of its 95 % interval") double high) {}

  /** What limits a size. */
  public enum Bound {
    /** Memory traffic takes longest. */
    MEMORY,
    /** Arithmetic takes longest. */
    COMPUTE,
    /** Both sides take less than an empty kernel. */
    LAUNCH;

    /** The name used in files and pages: {@code memory, compute, launch}. */
    @JsonValue
    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** Medians over the rounds of a size; null if the driver does not report them. */
  public record Clocks(
      @Doc(value = "median clock of the multiprocessors while the size was measured", unit = "MHz")
          @Nullable Double smMhz,
      @Doc(value = "median clock of the memory", unit = "MHz") @Nullable Double memoryMhz,
      @Doc(value = "median temperature", unit = "°C") @Nullable Double celsius,
      @Doc(value = "median power", unit = "W") @Nullable Double watts) {}

  /** Largest demands over all launches of the candidate; bytes of shared memory and of spills. */
  public record Compile(
      @Doc("architecture that launches were compiled for") String arch,
      @Doc("the most registers a thread of any launch") @Nullable Integer registers,
      @Doc(value = "the most shared memory of any launch", unit = "bytes")
          @Nullable Integer sharedBytes,
      @Doc(value = "the most spills of any launch", unit = "bytes") @Nullable Integer spills) {}

  /** One launch signature, compiled. */
  public record Kernel(
      @Doc("name of a kernel, once for each launch signature") String kernel,
      @Doc("architecture that it was compiled for") String arch,
      @Doc("registers a thread") @Nullable Integer registers,
      @Doc(value = "shared memory", unit = "bytes") @Nullable Integer sharedBytes,
      @Doc(value = "spills", unit = "bytes") @Nullable Integer spills,
      @Doc(value = "compile time", unit = "seconds") @Nullable Double seconds) {}

  /**
   * Which operations computed the results, as reported by the candidate's process.
   *
   * @param operations other operations that contributed, the largest first
   */
  public record Origin(
      @Doc(
              "share of the results that the candidate's kernels computed, 0 to 1, as its process"
                  + " reports it")
          double kernelShare,
      @Doc("share of the work that other operations did, 0 to 1") @Nullable Double foreignShare,
      List<Operation> operations) {
    public Origin {
      operations = List.copyOf(operations);
    }
  }

  /** An operation that computed in place of a kernel. */
  public record Operation(
      @Doc("an operation of others, the largest first") String name,
      @Doc("its line in the candidate") @Nullable Integer line,
      @Doc("elements that it read and wrote, relative to those of arguments and results")
          double share) {}

  /**
   * How a candidate would have ended by rules that do not ask who computes, as the published ones.
   */
  public record WithoutPolicy(
      @Doc("how a candidate ended when it was run although it is refused because of who computes")
          Status status,
      @Doc("the stage that decided then") Stage stage,
      @Doc("why, in one line") @Nullable String message) {}

  /** A property of calls on which a candidate fails. */
  public record Break(
      @Doc(
              "a property that it is not right for; several joined by `+` if it is right for each"
                  + " alone")
          String property,
      @Doc("the first call that failed, in words") @JsonProperty("case") String call,
      @Doc("how it failed") Status status,
      @Doc("why, in one line") @Nullable String message) {}

  /** A property of which nothing is known. */
  public record Unknown(
      @Doc("a property that was asked for, and of which no call says anything") String property,
      @Doc("why, in one line") String message) {}

  /** One wrong element: which output ({@code output[0]}), where in it, and both values as text. */
  public record Mismatch(
      @Doc("which output has a wrong element: `output[0]`") String output,
      @Doc("where in it") List<Long> index,
      @Doc("the reference's value, as text") String expected,
      @Doc("the candidate's value, as text") String got) {}

  /** One stack frame inside the candidate's source. */
  public record Frame(
      @Doc("line of a stack frame of an exception, in the candidate; outermost first") int line,
      @Doc("its function") String function,
      @Doc("its source") @Nullable String text) {}

  /** Device that the candidate ran on; {@code uuid} and {@code driver} exist for GPUs. */
  public record Device(
      @Doc("`cuda`, `cpu`, or `published` for what others measured") String kind,
      @Doc("name of the device") String name,
      @Doc("UUID of a GPU") @Nullable String uuid,
      @Doc("version of the GPU's driver") @Nullable String driver,
      @Doc("architecture of the device: `sm_90`") @Nullable String arch) {
    private static final String CPU = "cpu";
    private static final String GPU = "cuda";
    private static final String PUBLISHED = "published";

    /** The device of a run without devices: static checks only. */
    public static Device none() {
      return new Device("none", "no device: static checks only", null, null, null);
    }

    /**
     * The device of published results.
     *
     * @param name as published; null if it is not stated
     */
    public static Device published(@Nullable String name) {
      return new Device(PUBLISHED, name == null ? "not stated" : name, null, null, null);
    }

    /** Whether it is a CPU, on which nothing is timed. */
    public boolean onCpu() {
      return kind.equals(CPU);
    }

    /** Whether it is a GPU. */
    public boolean onGpu() {
      return kind.equals(GPU);
    }

    /** Whether kbx knows nothing of it but what others published. */
    public boolean asPublished() {
      return kind.equals(PUBLISHED);
    }
  }
}
