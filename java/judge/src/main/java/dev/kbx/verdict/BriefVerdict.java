package dev.kbx.verdict;

import com.fasterxml.jackson.annotation.JsonFormat;
import com.fasterxml.jackson.annotation.JsonInclude;
import dev.kbx.verdict.Verdict.Baseline;
import dev.kbx.verdict.Verdict.Bound;
import dev.kbx.verdict.Verdict.Break;
import dev.kbx.verdict.Verdict.Device;
import dev.kbx.verdict.Verdict.SizeTiming;
import dev.kbx.verdict.Verdict.Speedup;
import java.nio.charset.StandardCharsets;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What analyses need of a verdict. A store keeps it beside the verdict: of a hundred thousand,
 * reading these takes half the time. JSON is an array in the order of the components, which is read
 * faster than names; a component that is added later comes last.
 *
 * @param valuesOk whether it is correct by the published rules, as {@link Judgement#exeOk}; false
 *     if not known
 * @param ownOk the same and neither refused because of who computed nor refuted later, as {@link
 *     Judgement#ownRight}; false if not known
 * @param breaks properties on which it fails; {@code a+b} if it is right for each alone
 * @param scaled whether it was judged on smaller inputs than published
 * @param kernelShare share of the result that its own kernels computed, 0 to 1
 * @param baselines speedups by baseline, eager first; empty if it was not timed
 * @param sizes what it was timed on; null where it was not
 * @param unproven whether its own process alone says who computed its results
 */
@JsonFormat(shape = JsonFormat.Shape.ARRAY)
public record BriefVerdict(
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
    Map<String, String> conditions,
    Status status,
    Stage stage,
    @Nullable Boolean callOk,
    @Nullable Boolean perfOk,
    boolean valuesOk,
    boolean ownOk,
    @Nullable Boolean publishedOk,
    @Nullable Boolean generalOk,
    List<String> holds,
    List<String> breaks,
    boolean scaled,
    @Nullable String message,
    @Nullable String rule,
    @JsonFormat(shape = JsonFormat.Shape.ARRAY) @Nullable SourceFeatures features,
    @Nullable Double kernelShare,
    @JsonFormat(shape = JsonFormat.Shape.ARRAY) Device device,
    @JsonFormat(shape = JsonFormat.Shape.ARRAY) @Nullable Speedup speedup,
    List<OfBaseline> baselines,
    @Nullable Sizes sizes,
    boolean unproven) {
  private static final String SCALED = "scaled_inputs";
  private static final String UNPROVEN = "unproven_origin";
  private static final String EAGER = "eager";

  public BriefVerdict {
    // Thrown here, it is an error of the text to whoever reads it.
    for (Object needed : new Object[] {run, source, suite, task, category, device}) {
      Objects.requireNonNull(needed, "a verdict has run, source, task and device");
    }
    Objects.requireNonNull(status, "a verdict has a status");
    Objects.requireNonNull(stage, "a verdict has a stage");
    candidate = candidate == null ? "" : candidate;
    conditions = conditions == null ? Map.of() : conditions;
    holds = holds == null ? List.of() : holds;
    breaks = breaks == null ? List.of() : breaks;
    baselines = baselines == null ? List.of() : baselines;
  }

  /**
   * The speedup against one baseline.
   *
   * @param speedup null if the task does not have that baseline
   */
  @JsonFormat(shape = JsonFormat.Shape.ARRAY)
  public record OfBaseline(String name, @Nullable Double speedup) {}

  /**
   * All benchmark sizes of a candidate.
   *
   * @param shapes in words, sorted
   * @param candidateMs what all take together, milliseconds
   * @param baselineMs what the baseline that the speedup is against takes for all, milliseconds;
   *     null where there is no speedup or that is not known
   * @param largest of the size that takes the reference longest; null where nothing of it is known
   *     but times
   * @param memory geometric mean over sizes of the candidate's peak memory ÷ the reference's; null
   *     if one is unknown or 0
   */
  @JsonFormat(shape = JsonFormat.Shape.ARRAY)
  public record Sizes(
      List<String> shapes,
      double candidateMs,
      @Nullable Double baselineMs,
      @JsonFormat(shape = JsonFormat.Shape.ARRAY) @Nullable Efficiency largest,
      @Nullable Double memory) {}

  /** How well one size uses the device; the fields of {@link SizeTiming}. */
  public record Efficiency(
      String shape,
      @Nullable Double intensity,
      @Nullable Double gbs,
      @Nullable Double tflops,
      @Nullable Double iou,
      @Nullable Double mfu,
      @Nullable Bound bound,
      @Nullable Double solScore) {
    /** The larger share of a peak that it reaches; null if neither is known. */
    public @Nullable Double utilisation() {
      if (iou == null) return mfu;
      return mfu == null ? iou : (Double) Math.max(iou, mfu);
    }
  }

  /**
   * Reads its JSON.
   *
   * @throws tools.jackson.core.JacksonException if the text is none
   */
  public static BriefVerdict read(String json) {
    return new BriefReader().read(json.getBytes(StandardCharsets.UTF_8));
  }

  /** The brief of a whole verdict. */
  public static BriefVerdict of(Verdict v) {
    Provenance p = v.provenance();
    Judgement j = v.judgement();
    List<Break> breaks = j.breaks();
    return new BriefVerdict(
        p.run(),
        p.candidate(),
        p.source(),
        p.suite(),
        p.task(),
        p.category(),
        p.sample(),
        p.method(),
        p.model(),
        p.round(),
        p.conditions(),
        j.status(),
        j.stage(),
        j.callOk(),
        j.perfOk(),
        Objects.equals(j.exeOk(), true),
        Objects.equals(j.ownRight(), true),
        j.publishedOk(),
        j.generalOk(),
        j.holds() == null ? List.of() : j.holds(),
        breaks == null ? List.of() : breaks.stream().map(Break::property).toList(),
        j.flags().contains(SCALED),
        j.message(),
        j.rule(),
        j.features(),
        j.origin() == null ? null : j.origin().kernelShare(),
        j.device(),
        j.speedup(),
        baselines(j),
        sizes(j),
        j.flags().contains(UNPROVEN));
  }

  private static List<OfBaseline> baselines(Judgement j) {
    List<Baseline> baselines = j.baselines();
    if (baselines != null) {
      return baselines.stream().map(each -> new OfBaseline(each.name(), each.speedup())).toList();
    }
    Speedup speedup = j.speedup();
    if (speedup == null) return List.of();
    // Verdicts of earlier versions hold this one alone.
    String name = Against.of(speedup.baseline()).ofAnyTask().toString();
    return List.of(new OfBaseline(name, speedup.value()));
  }

  private static @Nullable Sizes sizes(Judgement j) {
    List<SizeTiming> sizes = j.sizes();
    if (sizes == null) return null;
    return new Sizes(
        sizes.stream().map(SizeTiming::shape).sorted().toList(),
        sizes.stream().mapToDouble(SizeTiming::candidateMs).sum(),
        baselineMs(j, sizes),
        sizes.stream()
            .max(Comparator.comparingDouble(SizeTiming::referenceMs))
            .map(BriefVerdict::efficiency)
            .orElse(null),
        memory(sizes));
  }

  private static @Nullable Efficiency efficiency(SizeTiming size) {
    if (size.iou() == null && size.mfu() == null && size.bound() == null) return null;
    return new Efficiency(
        size.shape(),
        size.intensity(),
        size.gbs(),
        size.tflops(),
        size.iou(),
        size.mfu(),
        size.bound(),
        size.solScore());
  }

  private static @Nullable Double memory(List<SizeTiming> sizes) {
    double logs = 0;
    for (SizeTiming size : sizes) {
      Long own = size.peakBytes();
      Long reference = size.referencePeakBytes();
      if (own == null || reference == null || own <= 0 || reference <= 0) return null;
      logs += Math.log((double) own / reference);
    }
    return sizes.isEmpty() ? null : (Double) Math.exp(logs / sizes.size());
  }

  private static @Nullable Double baselineMs(Judgement j, List<SizeTiming> sizes) {
    Speedup speedup = j.speedup();
    if (speedup == null) return null;
    String name = Against.of(speedup.baseline()).measured();
    // The sizes of a verdict are against eager.
    if (name.equals(EAGER)) return sizes.stream().mapToDouble(SizeTiming::referenceMs).sum();
    List<Baseline> baselines = j.baselines();
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
