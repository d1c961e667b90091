package dev.kbx.judge;

import dev.kbx.check.Finding;
import dev.kbx.outcome.Attribution;
import dev.kbx.outcome.Outcome;
import dev.kbx.plan.Plan;
import dev.kbx.task.Policy;
import dev.kbx.timing.Comparison;
import dev.kbx.timing.Timing;
import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.Profile;
import dev.kbx.verdict.SourceFeatures;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict;
import dev.kbx.verdict.Verdict.Kernel;
import dev.kbx.verdict.Verdict.SizeTiming;
import dev.kbx.verdict.Verdict.WithoutPolicy;
import dev.kbx.worker.RunnerMessage;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Collects what the stages find about one candidate, and builds its judgement. */
final class JudgementBuilder {
  /** Kernels kept of a runner's report, which may claim any number. */
  private static final int MAX_KERNELS = 100;

  private static final int MAX_NAME = 200;

  private final Policy policy;
  private final Set<String> flags = new LinkedHashSet<>();
  private final List<Kernel> kernels = new ArrayList<>();
  private final Map<String, Double> errors = new TreeMap<>();
  private final Map<String, Double> seconds = new TreeMap<>();
  private final Attribution origins = new Attribution();
  private final Attribution replays = new Attribution();
  private PublishedRule published = new PublishedRule();
  private final @Nullable String precision;
  private List<Integer> schemes = List.of();
  private int compared;
  private @Nullable Coverage coverage;
  private @Nullable Outcome unrefused;
  private @Nullable Map<String, Double> quality;
  private @Nullable SourceFeatures features;
  private @Nullable Finding imprecision;
  private Timing.@Nullable Result timing;
  private @Nullable List<SizeTiming> slow;
  private @Nullable Comparison comparison;
  private @Nullable Profile profile;
  private @Nullable String output;

  /**
   * @param policy who may compute the result
   * @param precision what the task's module is cast to; null for a task without one
   */
  JudgementBuilder(Policy policy, @Nullable String precision) {
    this.policy = policy;
    this.precision = precision;
  }

  /** A copy of another builder. */
  JudgementBuilder(JudgementBuilder before) {
    precision = before.precision;
    policy = before.policy;
    flags.addAll(before.flags);
    seconds.putAll(before.seconds);
    quality = before.quality;
    features = before.features;
    imprecision = before.imprecision;
  }

  void spent(Stage stage, double time) {
    seconds.merge(stage.label(), time, Double::sum);
  }

  /**
   * Records kernels compiled within a timed call: that part of the time belongs to the compile
   * stage.
   */
  void compiledInCall(List<RunnerMessage.Compiled> found) {
    for (RunnerMessage.Compiled k : found) {
      if (kernels.size() >= MAX_KERNELS) return;
      kernels.add(
          new Kernel(
              cut(k.kernel()),
              cut(k.arch()),
              figure(k.registers()),
              figure(k.sharedBytes()),
              figure(k.spills()),
              figure(k.seconds())));
      Double time = figure(k.seconds());
      if (time != null && time < seconds.getOrDefault(Stage.CALL.label(), 0.0)) {
        spent(Stage.COMPILE, time);
        spent(Stage.CALL, -time);
      }
    }
  }

  /** A claimed figure, or null if it is impossible. */
  private static @Nullable Integer figure(@Nullable Integer claimed) {
    return claimed == null || claimed < 0 ? null : claimed;
  }

  private static @Nullable Double figure(@Nullable Double claimed) {
    return claimed == null || !Double.isFinite(claimed) || claimed < 0 ? null : claimed;
  }

  private static String cut(String name) {
    return name.length() > MAX_NAME ? name.substring(0, MAX_NAME) + "…" : name;
  }

  /** Counts a call whose result was compared. */
  void compared() {
    compared++;
  }

  /** Keeps the maximum of each error metric over all calls. */
  void errors(Map<String, Double> metrics) {
    metrics.forEach((name, value) -> errors.merge(name, value, Math::max));
  }

  void flags(List<String> found) {
    flags.addAll(found);
  }

  /** The schemes that are left, for the next process of the candidate. */
  List<Integer> schemes() {
    return schemes;
  }

  /** Records the schemes by which all results so far were right; none if there is no choice. */
  void schemes(List<Integer> left) {
    schemes = List.copyOf(left);
  }

  /**
   * All calls of the published grade were right.
   *
   * @param beyond what becomes of the others
   */
  void covered(Coverage beyond) {
    coverage = beyond;
  }

  /** How a candidate that was refused because of who computes ended when it was run. */
  void withoutPolicy(Outcome ran) {
    unrefused = ran;
  }

  /** What the published rule says of the calls so far. */
  PublishedRule published() {
    return published;
  }

  /** Takes over what was found of the same calls under other conditions. */
  void published(PublishedRule found) {
    published = found;
  }

  /** Who computed the results of calls that were made again without the candidate. */
  Attribution replays() {
    return replays;
  }

  /** Who computed the results of the calls so far. */
  Attribution origins() {
    return origins;
  }

  void quality(Map<String, Double> figures) {
    quality = Map.copyOf(figures);
  }

  void features(SourceFeatures found) {
    features = found;
  }

  /** Records a property of the source that can explain wrong values. */
  void imprecision(Finding found) {
    imprecision = found;
  }

  void timing(Timing.Result result) {
    timing = result;
    flags.addAll(result.flags());
  }

  /** A candidate for which the device has no time: only these sizes were timed. */
  void tooSlow(List<SizeTiming> measured) {
    flags.add("too_slow");
    slow = measured.isEmpty() ? null : List.copyOf(measured);
  }

  /** Result of timing; null if nothing was timed. */
  Timing.@Nullable Result timing() {
    return timing;
  }

  void comparison(Comparison found) {
    comparison = found;
  }

  void profile(Profile found) {
    profile = found;
  }

  void output(@Nullable String text) {
    output = text == null || text.isBlank() ? null : text;
  }

  private @Nullable String message(Outcome outcome) {
    if (outcome.status() != Status.WRONG_VALUES || imprecision == null) return outcome.message();
    return outcome.message() + "; " + imprecision.sentence();
  }

  /** Builds the judgement with {@code outcome}. */
  Judgement judgement(
      Plan plan, Verdict.Device device, Map<String, String> versions, Outcome outcome) {
    Outcome values = values(outcome);
    Status status = values.status();
    boolean ours = status.blame() == Status.Blame.KBX || status.blame() == Status.Blame.TASK;
    boolean timed = timing != null || outcome.stage() == Stage.PERF;
    return new Judgement(
        outcome.status(),
        outcome.stage(),
        ours ? null : callOk(values, plan),
        ours ? null : exeOk(values, plan),
        (!ours && timed) ? passed(outcome, plan, Stage.PERF) : null,
        plan.grade().label(),
        precision,
        policy.label(),
        plan.reaches(Stage.CORRECT) ? publishedOk(ours, status == Status.CHEATING) : null,
        plan.reaches(Stage.CORRECT) ? generalOk(ours, status == Status.CHEATING) : null,
        coverage == null ? null : coverage.holds(),
        coverage == null ? null : coverage.breaks(),
        coverage == null || coverage.unknown().isEmpty() ? null : coverage.unknown(),
        compared == 0 ? null : (Integer) compared,
        message(outcome),
        outcome.rule(),
        outcome.evidence(),
        withoutPolicy(outcome, values),
        List.copyOf(flags),
        comparison == null ? null : comparison.speedup(),
        timing == null ? slow : timing.sizes(),
        comparison == null ? null : comparison.baselines(),
        profile,
        compile(),
        kernels.isEmpty() ? null : List.copyOf(kernels),
        outcome.mismatches() == null || outcome.mismatches().isEmpty()
            ? null
            : outcome.mismatches(),
        errors.isEmpty() ? null : Map.copyOf(errors),
        quality,
        features,
        origins.summary(),
        outcome.frames() == null || outcome.frames().isEmpty() ? null : outcome.frames(),
        output,
        device,
        versions,
        Map.copyOf(seconds));
  }

  private @Nullable Boolean callOk(Outcome values, Plan plan) {
    return published.asked() ? published.ran() : passed(values, plan, Stage.CALL);
  }

  private @Nullable Boolean exeOk(Outcome values, Plan plan) {
    return published.asked() ? published.right() : passed(values, plan, Stage.CORRECT);
  }

  /** The outcome, whoever computed. */
  private Outcome values(Outcome outcome) {
    Outcome values = unrefused == null ? outcome : unrefused;
    boolean right = values.policy() && values.status() != Status.REJECTED_STATIC;
    return right ? Outcome.correct(Stage.CORRECT) : values;
  }

  private static @Nullable WithoutPolicy withoutPolicy(Outcome outcome, Outcome values) {
    if (values.equals(outcome)) return null;
    return new WithoutPolicy(values.status(), values.stage(), values.message());
  }

  private @Nullable Boolean publishedOk(boolean ours, boolean cheats) {
    if (coverage != null) return !cheats;
    return ours ? null : false;
  }

  private @Nullable Boolean generalOk(boolean ours, boolean cheats) {
    if (coverage == null || cheats) return publishedOk(ours, cheats);
    return coverage.right().orElse(null);
  }

  /**
   * Whether the candidate passed {@code stage}: false if it or an earlier stage failed. Null if the
   * candidate passed all requested stages and this one was not requested.
   */
  private static @Nullable Boolean passed(Outcome outcome, Plan plan, Stage stage) {
    if (outcome.status() == Status.CORRECT) {
      return outcome.stage().compareTo(stage) >= 0 ? true : null;
    }
    if (!plan.reaches(stage)) return outcome.stage().compareTo(stage) <= 0 ? false : null;
    return outcome.stage().compareTo(stage) > 0;
  }

  private Verdict.@Nullable Compile compile() {
    if (kernels.isEmpty()) return null;
    return new Verdict.Compile(
        kernels.getFirst().arch(),
        largest(Kernel::registers),
        largest(Kernel::sharedBytes),
        largest(Kernel::spills));
  }

  private @Nullable Integer largest(Function<Kernel, @Nullable Integer> figure) {
    return kernels.stream()
        .map(figure)
        .filter(Objects::nonNull)
        .max(Comparator.naturalOrder())
        .orElse(null);
  }
}
