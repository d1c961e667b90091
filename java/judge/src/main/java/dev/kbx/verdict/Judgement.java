package dev.kbx.verdict;

import dev.kbx.verdict.Fields.Doc;
import dev.kbx.verdict.Verdict.Baseline;
import dev.kbx.verdict.Verdict.Break;
import dev.kbx.verdict.Verdict.Compile;
import dev.kbx.verdict.Verdict.Device;
import dev.kbx.verdict.Verdict.Frame;
import dev.kbx.verdict.Verdict.Kernel;
import dev.kbx.verdict.Verdict.Mismatch;
import dev.kbx.verdict.Verdict.Origin;
import dev.kbx.verdict.Verdict.SizeTiming;
import dev.kbx.verdict.Verdict.Speedup;
import dev.kbx.verdict.Verdict.Unknown;
import dev.kbx.verdict.Verdict.WithoutPolicy;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The result for a candidate, independent of the run: the same for equal sources, tasks, plans,
 * devices and versions, so that it can be cached. What was not measured is null.
 *
 * @param breaks properties that it is not right for; null as before
 * @param unknown properties of which nothing is known; null as before, and if there are none
 * @param withoutPolicy the result of running a candidate that is refused because of who computes;
 *     null for all others
 * @param speedup speedup against the requested baseline; null if the task has none
 * @param baselines all requested baselines, eager first; null if it was not timed
 * @param profile figures of Nsight Compute; null if not requested or not timed
 * @param compile the most demanding launch: largest registers, shared memory and spills
 * @param kernels every launch signature compiled
 * @param mismatches the first wrong elements
 * @param features what its source is like; null where it does not parse, and in judgements of
 *     earlier versions
 * @param origin which operations computed the results; null if no call of the correctness stage
 *     returned
 * @param frames the candidate's own stack frames of an exception, outermost first
 */
public record Judgement(
    @Doc("what came of it: [statuses](verdicts.md)") Status status,
    @Doc("the stage that decided: `static`, `compile`, `call`, `correct`, `perf`") Stage stage,
    @Doc(
            "it loads, compiles and returns from all calls of the published grade that were made;"
                + " false, too, where an earlier stage refused it")
        @Nullable Boolean callOk,
    @Doc(
            "correct by the [published rules](verdicts.md#published-accounting): every call of the"
                + " published grade runs, and is right by the published tolerance; false, too,"
                + " where an earlier stage failed")
        @Nullable Boolean exeOk,
    @Doc("it was timed; absent without a GPU") @Nullable Boolean perfOk,
    @Doc("which calls decided: `published` or `general`") @Nullable String grade,
    @Doc("what the task's module was cast to: `fp32`, `fp16`, `bf16`; absent for functions")
        @Nullable String precision,
    @Doc("who may compute: `kernel` or `mixed`") @Nullable String policy,
    @Doc("right in the calls of the published grade by kbx's own rules")
        @Nullable Boolean publishedOk,
    @Doc("right in all calls by kbx's own rules") @Nullable Boolean generalOk,
    @Doc(
            "properties of calls beyond the published grade that it is right for, by name; absent"
                + " where no such call was made")
        @Nullable List<String> holds,
    @Nullable List<Break> breaks,
    @Nullable List<Unknown> unknown,
    @Doc("number of calls whose results were compared, at either grade; the last one may be wrong")
        @Nullable Integer comparedCalls,
    @Doc("what is wrong, in one line") @Nullable String message,
    @Doc("id of the static rule, with `rejected_static`") @Nullable String rule,
    @Doc("what shows it, with `cheating` and `not_a_kernel`") @Nullable String evidence,
    @Nullable WithoutPolicy withoutPolicy,
    @Doc("[observations](verdicts.md) that do not change the status, by name") List<String> flags,
    @Nullable Speedup speedup,
    @Nullable List<SizeTiming> sizes,
    @Nullable List<Baseline> baselines,
    @Nullable Profile profile,
    @Nullable Compile compile,
    @Nullable List<Kernel> kernels,
    @Nullable List<Mismatch> mismatches,
    @Doc(
            "the largest errors of any call: `max_abs`, `max_rel`, `error_ratio`; for imported"
                + " tasks with thresholds `cosine_distance`, `l1_relative`, `rmse`")
        @Nullable Map<String, Double> errorMetrics,
    @Doc("figures about the source, as in `metrics.json`") @Nullable Map<String, Double> quality,
    @Nullable SourceFeatures features,
    @Nullable Origin origin,
    @Nullable List<Frame> frames,
    @Doc("the end of what the candidate printed") @Nullable String output,
    Device device,
    @Doc(
            "`kbx`, `python`, `torch`, `triton`, `worker` (fingerprint of the judging Python),"
                + " `judge`, `witness` and, where PyTorch has it, `cupti` (what sees who computes),"
                + " and others that are installed")
        Map<String, String> versions,
    @Doc(value = "time by stage", unit = "seconds") Map<String, Double> seconds) {
  /** A call of many arguments before what was found in it. */
  private static final Pattern LONG_CALL =
      Pattern.compile("([^:\\n]{60,600}? values): (.*)", Pattern.DOTALL);

  /** Flag of a judgement during which the device was lost. */
  public static final String DEVICE_LOST = "device_lost";

  public Judgement {
    flags = List.copyOf(flags);
    holds = holds == null ? null : List.copyOf(holds);
    breaks = breaks == null ? null : List.copyOf(breaks);
    unknown = unknown == null ? null : List.copyOf(unknown);
    versions = Map.copyOf(versions);
    if (status == Status.REJECTED_STATIC && rule == null) {
      throw new IllegalArgumentException("a static rejection names its rule");
    }
    if ((status == Status.CHEATING || status == Status.NOT_A_KERNEL) && evidence == null) {
      throw new IllegalArgumentException(status.label() + " names its evidence");
    }
  }

  /**
   * Whether it is correct by the published rules, and kbx has nothing against it but its own rules
   * for values: it is not refused because of who computed, did not deceive, and was not wrong while
   * it was timed. Null if not known.
   */
  public @Nullable Boolean ownRight() {
    boolean refutedWhileTimed = stage == Stage.PERF && status.refuted();
    boolean refused = withoutPolicy != null || status == Status.CHEATING || refutedWhileTimed;
    return refused ? Boolean.FALSE : exeOk;
  }

  /**
   * Whether it counts as correct, in every figure of that name: its status is. Null if its results
   * were not compared, or if the task or kbx failed.
   */
  public @Nullable Boolean correct() {
    if (status == Status.CORRECT) return stage.compareTo(Stage.CORRECT) < 0 ? null : Boolean.TRUE;
    return status.blame() == Status.Blame.CANDIDATE ? Boolean.FALSE : null;
  }

  /**
   * Whether the same candidate would get the same judgement again: false if a deadline or this
   * machine decided, or if a requested profile or baseline is missing.
   */
  public boolean lasting() {
    if (flags.contains(DEVICE_LOST)) return false;
    if (profile != null && profile.failure() != null) return false;
    if (baselines != null && baselines.stream().anyMatch(b -> b.failure() != null)) return false;
    return lasting(status) && (withoutPolicy == null || lasting(withoutPolicy.status()));
  }

  private static boolean lasting(Status status) {
    return switch (status) {
      case TIMEOUT, OUT_OF_MEMORY, INFRASTRUCTURE, INVALID_TASK -> false;
      default -> true;
    };
  }

  /** This judgement with one more flag. */
  public Judgement with(String flag) {
    List<String> more = Stream.concat(flags.stream(), Stream.of(flag)).distinct().toList();
    return new Judgement(
        status,
        stage,
        callOk,
        exeOk,
        perfOk,
        grade,
        precision,
        policy,
        publishedOk,
        generalOk,
        holds,
        breaks,
        unknown,
        comparedCalls,
        message,
        rule,
        evidence,
        withoutPolicy,
        more,
        speedup,
        sizes,
        baselines,
        profile,
        compile,
        kernels,
        mismatches,
        errorMetrics,
        quality,
        features,
        origin,
        frames,
        output,
        device,
        versions,
        seconds);
  }

  /** What others published of a candidate; they state no more. */
  public static Judgement published(
      Status status,
      Stage stage,
      @Nullable Boolean callOk,
      @Nullable Boolean exeOk,
      @Nullable Boolean perfOk,
      @Nullable String message,
      @Nullable Speedup speedup,
      Device device) {
    return new Judgement(
        status, stage, callOk, exeOk, perfOk, null, null, null, null, null, null, null, null, null,
        message, null, null, null, List.of(), speedup, null, null, null, null, null, null, null,
        null, null, null, null, null, device, Map.of(), Map.of());
  }

  /** The expert's kernel that it was timed beside; null if there was none, or it has no figures. */
  public Verdict.@Nullable Baseline expert() {
    if (baselines == null) return null;
    return baselines.stream()
        .filter(each -> each.name().equals(Verdict.Baseline.EXPERT) && each.speedup() != null)
        .findFirst()
        .orElse(null);
  }

  /**
   * A message that has what was found before the call that it was found in, if that is long: for
   * where a message is cut.
   */
  public static @Nullable String findingFirst(@Nullable String message) {
    Matcher found = message == null ? null : LONG_CALL.matcher(message);
    return found != null && found.matches()
        ? "%s; called with %s".formatted(found.group(2), found.group(1))
        : message;
  }

  /** The verdict on a candidate with this provenance. */
  public Verdict on(Provenance provenance) {
    return new Verdict(provenance, this);
  }
}
