package dev.kbx.verdict;

import com.fasterxml.jackson.annotation.JsonInclude;
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
import dev.kbx.verdict.Verdict.WithoutPolicy;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The result for a candidate, independent of the run: the same for equal sources, tasks, plans,
 * devices and versions, so that it can be cached. What was not measured is null.
 *
 * @param stage the stage that decided
 * @param callOk it loads, compiles and can be called; false, too, if an earlier stage refused it;
 *     null if not requested
 * @param exeOk its results were right in the correctness stage; false, too, if an earlier stage
 *     failed; null if not requested
 * @param perfOk it was timed; null without a GPU or if timing was not requested
 * @param grade label of the grade whose calls decided; null in judgements of earlier versions,
 *     where it was all of them
 * @param precision what the task's module is cast to: {@code fp16}, {@code bf16}, or nothing:
 *     {@code fp32}; null for a task without one
 * @param policy label of who may compute results; null in judgements of earlier versions
 * @param publishedOk the results of the calls of the published grade were right; null where that is
 *     not known, as for the next
 * @param generalOk those of all calls were
 * @param holds properties of calls beyond the published grade that it is right for, sorted; null
 *     where no such call was made
 * @param breaks properties that it is not right for; null as before
 * @param rule id of the static rule, with {@link Status#REJECTED_STATIC}
 * @param evidence evidence of the attempt, with {@link Status#CHEATING}; who computed instead, with
 *     {@link Status#NOT_A_KERNEL}
 * @param withoutPolicy the result of running a candidate that is refused because of who computes;
 *     null for all others
 * @param flags observations that do not affect the status: {@code nondeterministic}, {@code
 *     clock_gap}, {@code throttled}, …
 * @param speedup speedup against the requested baseline; null if the task has none
 * @param baselines all requested baselines, eager first; null if it was not timed
 * @param profile figures of Nsight Compute; null if not requested or not timed
 * @param compile the most demanding launch: largest registers, shared memory and spills
 * @param kernels every launch signature compiled
 * @param mismatches the first wrong elements
 * @param errorMetrics {@code max_abs}, {@code max_rel}, {@code error_ratio} (largest error over its
 *     tolerance)
 * @param features what its source is like; null where it does not parse, and in judgements of
 *     earlier versions
 * @param origin which operations computed the results; null if no call of the correctness stage
 *     returned
 * @param frames the candidate's own stack frames of an exception, outermost first
 * @param output the end of the candidate's output
 * @param seconds seconds by stage label
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Judgement(
    Status status,
    Stage stage,
    @Nullable Boolean callOk,
    @Nullable Boolean exeOk,
    @Nullable Boolean perfOk,
    @Nullable String grade,
    @Nullable String precision,
    @Nullable String policy,
    @Nullable Boolean publishedOk,
    @Nullable Boolean generalOk,
    @Nullable List<String> holds,
    @Nullable List<Break> breaks,
    @Nullable String message,
    @Nullable String rule,
    @Nullable String evidence,
    @Nullable WithoutPolicy withoutPolicy,
    List<String> flags,
    @Nullable Speedup speedup,
    @Nullable List<SizeTiming> sizes,
    @Nullable List<Baseline> baselines,
    @Nullable Profile profile,
    @Nullable Compile compile,
    @Nullable List<Kernel> kernels,
    @Nullable List<Mismatch> mismatches,
    @Nullable Map<String, Double> errorMetrics,
    @Nullable Map<String, Double> quality,
    @Nullable SourceFeatures features,
    @Nullable Origin origin,
    @Nullable List<Frame> frames,
    @Nullable String output,
    Device device,
    Map<String, String> versions,
    Map<String, Double> seconds) {
  /** Flag of a judgement during which the device was lost. */
  public static final String DEVICE_LOST = "device_lost";

  public Judgement {
    flags = List.copyOf(flags);
    holds = holds == null ? null : List.copyOf(holds);
    breaks = breaks == null ? null : List.copyOf(breaks);
    versions = Map.copyOf(versions);
    if (status == Status.REJECTED_STATIC && rule == null) {
      throw new IllegalArgumentException("a static rejection names its rule");
    }
    if ((status == Status.CHEATING || status == Status.NOT_A_KERNEL) && evidence == null) {
      throw new IllegalArgumentException(status.label() + " names its evidence");
    }
  }

  /**
   * Whether its results are right, whoever computed them: correct by the published rules. False,
   * too, of a candidate that was refuted later, while it was timed; null if not known.
   */
  public @Nullable Boolean valuesRight() {
    boolean refuted = status.refuted() && withoutPolicy == null;
    return refuted ? Boolean.FALSE : exeOk;
  }

  /**
   * Whether its results are right and not refused because of who computed. Unlike {@link #correct},
   * a timeout or crash while it was timed changes nothing. Null if not known.
   */
  public @Nullable Boolean ownRight() {
    return withoutPolicy == null ? valuesRight() : Boolean.FALSE;
  }

  /**
   * Whether it counts as correct, in every figure of that name: its status is. Null if its results
   * were not compared, or if the task or kbx failed.
   */
  public @Nullable Boolean correct() {
    if (status == Status.CORRECT) return exeOk;
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

  /** The same with one more flag. */
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

  /** The verdict on a candidate with this provenance. */
  public Verdict on(Provenance provenance) {
    return new Verdict(provenance, this);
  }
}
