package dev.kbx.analysis;

import dev.kbx.stats.Ratio;
import dev.kbx.verdict.Against;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict;
import dev.kbx.verdict.Verdict.Baseline;
import dev.kbx.verdict.Verdict.Break;
import dev.kbx.verdict.Verdict.Device;
import dev.kbx.verdict.Verdict.Origin;
import dev.kbx.verdict.Verdict.SizeTiming;
import dev.kbx.verdict.Verdict.Speedup;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The part of a verdict that analyses need: candidate, outcome, speed. It takes about 300 bytes, a
 * verdict takes kilobytes. Made by {@link #of} or, for many verdicts, by a {@link Reader}.
 *
 * @param run id of the run that judged it
 * @param candidate SHA-256 of the source, hex
 * @param source the path it came from, with {@code :line} in a JSONL file
 * @param method null if the source does not state it, as are {@code model} and {@code round}
 * @param callOk as in a verdict, like {@code perfOk}: null where not measured
 * @param valuesOk whether its results are right, whoever computed them; false if not known
 * @param correct whether it counts as correct, as {@link Verdict#correct}; false if not known
 * @param publishedOk whether its results are right at the published grade, and {@code generalOk} at
 *     the general one; null where not known
 * @param holds properties of calls beyond the published grade for which it is right
 * @param breaks those on which it fails; {@code a+b} if it is right for each alone
 * @param scaled whether it was judged on smaller inputs than published
 * @param kernelShare share of the result that its own kernels computed, 0 to 1; null if unknown
 * @param speedup speedup against the requested baseline; null if it was not timed, or the task has
 *     no such baseline
 * @param baselines speedups by baseline, eager first; null for a baseline that the task does not
 *     have; empty if it was not timed
 * @param sizes what it was timed on; null where it was not
 */
public record VerdictRow(
    String run,
    String suite,
    String category,
    String task,
    String candidate,
    String source,
    @Nullable String method,
    @Nullable String model,
    @Nullable Integer round,
    int sample,
    Status status,
    @Nullable Boolean callOk,
    @Nullable Boolean perfOk,
    boolean valuesOk,
    boolean correct,
    @Nullable Boolean publishedOk,
    @Nullable Boolean generalOk,
    List<String> holds,
    List<String> breaks,
    boolean scaled,
    @Nullable Double kernelShare,
    Device device,
    @Nullable Speedup speedup,
    Map<String, @Nullable Double> baselines,
    @Nullable Sizes sizes) {

  /**
   * All benchmark sizes of a candidate.
   *
   * @param shapes in words, sorted
   * @param candidateMs what all take together, milliseconds
   * @param baselineMs what the baseline that the speedup is against takes for all, milliseconds;
   *     null where there is no speedup or that is not known
   */
  public record Sizes(List<String> shapes, double candidateMs, @Nullable Double baselineMs) {}

  /** One verdict's row. */
  public static VerdictRow of(Verdict verdict) {
    return new Reader().row(verdict);
  }

  /** Rows of verdicts, in their order. */
  public static List<VerdictRow> of(List<Verdict> verdicts) {
    Reader reader = new Reader();
    return verdicts.stream().map(reader::row).toList();
  }

  /**
   * Converts the verdicts of a run one by one. Equal values, such as names and devices, are shared
   * between rows.
   */
  public static final class Reader {
    private static final String SCALED = "scaled_inputs";

    private final Map<Object, Object> shared = new HashMap<>();

    /** The row of the next verdict. */
    public VerdictRow row(Verdict v) {
      Origin origin = v.origin();
      return new VerdictRow(
          one(v.run()),
          one(v.suite()),
          one(v.category()),
          one(v.task()),
          v.candidate(),
          v.source(),
          v.method() == null ? null : one(v.method()),
          v.model() == null ? null : one(v.model()),
          v.round(),
          v.sample(),
          v.status(),
          v.callOk(),
          v.perfOk(),
          Objects.equals(v.valuesRight(), true),
          Objects.equals(v.correct(), true),
          v.publishedOk(),
          v.generalOk(),
          v.holds() == null ? List.of() : one(v.holds()),
          breaks(v),
          v.flags().contains(SCALED),
          origin == null ? null : origin.kernelShare(),
          one(v.device()),
          v.speedup(),
          baselines(v),
          sizes(v));
    }

    private List<String> breaks(Verdict v) {
      List<Break> breaks = v.breaks();
      return breaks == null || breaks.isEmpty()
          ? List.of()
          : one(breaks.stream().map(Break::property).toList());
    }

    /** The first of all that are equal. */
    @SuppressWarnings("unchecked") // Equal values of final classes have one class.
    private <T> T one(T value) {
      return (T) shared.computeIfAbsent(value, same -> same);
    }

    private Map<String, @Nullable Double> baselines(Verdict v) {
      List<Baseline> baselines = v.baselines();
      Speedup speedup = v.speedup();
      Map<String, @Nullable Double> values = new LinkedHashMap<>();
      if (baselines != null) {
        baselines.forEach(baseline -> values.put(one(baseline.name()), baseline.speedup()));
      } else if (speedup != null) {
        // Verdicts of earlier versions hold this one alone.
        values.put(one(anyTask(speedup)), speedup.value());
      }
      return values.isEmpty() ? Map.of() : Collections.unmodifiableMap(values);
    }

    private @Nullable Sizes sizes(Verdict v) {
      List<SizeTiming> sizes = v.sizes();
      if (sizes == null) return null;
      return new Sizes(
          one(sizes.stream().map(SizeTiming::shape).sorted().toList()),
          sizes.stream().mapToDouble(SizeTiming::candidateMs).sum(),
          baselineMs(v, sizes));
    }

    private static @Nullable Double baselineMs(Verdict v, List<SizeTiming> sizes) {
      Speedup speedup = v.speedup();
      if (speedup == null) return null;
      String name = Against.of(speedup.baseline()).measured();
      // The sizes of a verdict are against eager.
      if (name.equals(BaselineSpeeds.EAGER)) {
        return sizes.stream().mapToDouble(SizeTiming::referenceMs).sum();
      }
      List<Baseline> baselines = v.baselines();
      if (baselines == null) return null;
      for (Baseline baseline : baselines) {
        List<Double> ms = baseline.sizesMs();
        if (baseline.name().equals(name) && ms != null) {
          return ms.stream().mapToDouble(Double::doubleValue).sum();
        }
      }
      return null;
    }
  }

  /** {@code Category/task}. */
  public String path() {
    return category + "/" + task;
  }

  /** The path, and the sample's number where it is not the first: {@code Math/exp#1}. */
  public String name() {
    return path() + (sample == 0 ? "" : "#" + sample);
  }

  /** Whether the verdict is about the candidate: neither the task nor kbx failed. */
  public boolean judged() {
    return switch (status.blame()) {
      case NOBODY, CANDIDATE -> true;
      case TASK, KBX -> false;
    };
  }

  /**
   * Whether it is correct, and at the general grade, too; null if it is correct and that is not
   * known.
   */
  @Nullable Boolean general() {
    return status == Status.CORRECT ? generalOk : Boolean.FALSE;
  }

  /** Whether it passed the call stage. */
  boolean called() {
    return Objects.equals(callOk, true);
  }

  /** Whether its results are right and it is refused only because of who computes. */
  public boolean refusedByPolicy() {
    return valuesOk && !correct;
  }

  /** Whether it was timed. */
  boolean timed() {
    return Objects.equals(perfOk, true);
  }

  /** The speedup of a correct candidate; null if it is wrong or has none. */
  public @Nullable Ratio correctSpeedup() {
    if (status != Status.CORRECT || speedup == null) return null;
    return new Ratio(speedup.value(), speedup.low(), speedup.high());
  }

  /**
   * The baseline of the speedup; null without a speedup. The best of several is {@code best},
   * whichever it is for a task: {@code best (compile)} gives {@code best}.
   */
  @Nullable String against() {
    return speedup == null ? null : anyTask(speedup);
  }

  private static String anyTask(Speedup speedup) {
    return Against.of(speedup.baseline()).ofAnyTask().toString();
  }

  /**
   * Whether both speedups are means over the same sizes, and so comparable. False if the sizes of
   * one are unknown.
   */
  boolean hasSizesOf(VerdictRow other) {
    return sizes != null && other.sizes != null && sizes.shapes().equals(other.sizes.shapes());
  }
}
