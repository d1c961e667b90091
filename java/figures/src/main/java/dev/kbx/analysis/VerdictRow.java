package dev.kbx.analysis;

import dev.kbx.stats.Ratio;
import dev.kbx.verdict.Against;
import dev.kbx.verdict.BriefVerdict;
import dev.kbx.verdict.BriefVerdict.OfBaseline;
import dev.kbx.verdict.BriefVerdict.Sizes;
import dev.kbx.verdict.SourceFeatures;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict;
import dev.kbx.verdict.Verdict.Device;
import dev.kbx.verdict.Verdict.Speedup;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The part of a verdict that analyses need: candidate, outcome, speed. It takes about 300 bytes, a
 * verdict takes kilobytes.
 *
 * @param run id of the run that judged it
 * @param path {@code Category/task}
 * @param candidate SHA-256 of the source, hex; empty if a published result has none
 * @param source the path it came from, with {@code :line} in a JSONL file
 * @param method null if the source does not state it, as are {@code model} and {@code round}
 * @param callOk as in a verdict, like {@code perfOk}: null where not measured
 * @param valuesOk whether it is correct by the published rules, whoever computed; false if not
 *     known
 * @param ownOk the same and neither refused because of who computed nor refuted while it was timed,
 *     however timing ended; false if not known
 * @param publishedOk whether its results are right at the published grade by kbx's own rules, and
 *     {@code generalOk} at the general one; null where not known
 * @param holds properties of calls beyond the published grade for which it is right
 * @param breaks those on which it fails; {@code a+b} if it is right for each alone
 * @param scaled whether it was judged on smaller inputs than published
 * @param kernelShare share of the result that its own kernels computed, 0 to 1; null if unknown
 * @param speedup speedup against the requested baseline; null if it was not timed, or the task has
 *     no such baseline
 * @param baselines speedups by baseline, eager first; null for a baseline that the task does not
 *     have; empty if it was not timed
 * @param sizes what it was timed on; null where it was not
 * @param conditions under which it was generated, by name; empty where not stated
 * @param features what its source is like; null where not known, as in verdicts of earlier versions
 * @param unproven whether its own process alone says who computed its results
 */
public record VerdictRow(
    String run,
    String suite,
    String category,
    String task,
    String path,
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
    boolean ownOk,
    @Nullable Boolean publishedOk,
    @Nullable Boolean generalOk,
    List<String> holds,
    List<String> breaks,
    boolean scaled,
    @Nullable Double kernelShare,
    Device device,
    @Nullable Speedup speedup,
    Map<String, @Nullable Double> baselines,
    @Nullable Sizes sizes,
    Map<String, String> conditions,
    @Nullable SourceFeatures features,
    boolean unproven) {

  /** One verdict's row. */
  public static VerdictRow of(Verdict verdict) {
    return of(BriefVerdict.of(verdict));
  }

  /** Rows of verdicts, in their order. */
  public static List<VerdictRow> of(List<Verdict> verdicts) {
    return verdicts.stream().map(VerdictRow::of).toList();
  }

  /** The row of what analyses need of a verdict. */
  public static VerdictRow of(BriefVerdict v) {
    return new VerdictRow(
        v.run(),
        v.suite(),
        v.category(),
        v.task(),
        (v.category() + "/" + v.task()).intern(), // One of all that are equal.
        v.candidate(),
        v.source(),
        v.method(),
        v.model(),
        v.round(),
        v.sample(),
        v.status(),
        v.callOk(),
        v.perfOk(),
        v.valuesOk(),
        v.ownOk(),
        v.publishedOk(),
        v.generalOk(),
        v.holds(),
        v.breaks(),
        v.scaled(),
        v.kernelShare(),
        v.device(),
        v.speedup(),
        baselines(v.baselines()),
        v.sizes(),
        v.conditions(),
        v.features(),
        v.unproven());
  }

  private static Map<String, @Nullable Double> baselines(List<OfBaseline> all) {
    if (all.isEmpty()) return Map.of();
    if (all.size() == 1) {
      OfBaseline only = all.getFirst();
      return Collections.singletonMap(only.name(), only.speedup());
    }
    Map<String, @Nullable Double> values = new LinkedHashMap<>();
    for (OfBaseline each : all) values.put(each.name(), each.speedup());
    return Collections.unmodifiableMap(values);
  }

  /** The path, and the sample's number where it is not the first: {@code Math/exp#1}. */
  public String name() {
    return path + (sample == 0 ? "" : "#" + sample);
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
    return correct() ? generalOk : Boolean.FALSE;
  }

  /**
   * Whether it counts as correct, in every figure of that name: its status is. Of a run without the
   * correctness stage that says less; {@link Outcome#unmeasured} tells.
   */
  public boolean correct() {
    return status == Status.CORRECT;
  }

  /** Whether it passed the call stage. */
  boolean called() {
    return Objects.equals(callOk, true);
  }

  /** Whether it is correct by the published rules, and ended or was refuted while it was timed. */
  public boolean endedWhileTimed() {
    boolean timed = Objects.equals(perfOk, false) && status != Status.NOT_A_KERNEL;
    return valuesOk && timed && !correct();
  }

  /** Whether it is correct by the published rules, and refused because of who computes. */
  public boolean refusedByPolicy() {
    return valuesOk && !ownOk && !endedWhileTimed();
  }

  /** Whether it is correct by the published rules, and wrong by kbx's own rules for results. */
  public boolean wrongByOwnRules() {
    return ownOk && !correct() && !endedWhileTimed();
  }

  /** Whether it was timed. */
  boolean timed() {
    return Objects.equals(perfOk, true);
  }

  /** The speedup of a correct candidate; null if it is wrong or has none. */
  public @Nullable Ratio correctSpeedup() {
    if (!correct() || speedup == null) return null;
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

  /** Whether it is a result as others published it. */
  boolean asPublished() {
    return device.asPublished();
  }

  /**
   * Whether both speedups are means over the same sizes, and so comparable. False if the sizes of
   * one are unknown.
   */
  boolean hasSizesOf(VerdictRow other) {
    return sizes != null && other.sizes != null && sizes.shapes().equals(other.sizes.shapes());
  }
}
