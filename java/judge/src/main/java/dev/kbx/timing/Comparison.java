package dev.kbx.timing;

import dev.kbx.candidate.Candidate;
import dev.kbx.plan.Baseline;
import dev.kbx.plan.Plan;
import dev.kbx.plan.Seeds;
import dev.kbx.stats.Ratio;
import dev.kbx.verdict.Verdict;
import dev.kbx.verdict.Verdict.Geometric;
import dev.kbx.verdict.Verdict.SizeTiming;
import dev.kbx.verdict.Verdict.Speedup;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A candidate against every baseline of its run.
 *
 * <p>Candidates are timed beside eager, and beside an expert's kernel where there is one. A
 * candidate's speedup over a compiled reference is its speedup over eager, divided by the compiled
 * reference's own. The two are measured separately and so independently; the variances of their
 * logarithms add.
 *
 * @param speedup against the requested baseline; null if the task has none
 * @param baselines all requested ones, eager first
 */
public record Comparison(@Nullable Speedup speedup, List<Verdict.Baseline> baselines) {
  public Comparison {
    baselines = List.copyOf(baselines);
  }

  /**
   * Compares a timed candidate. Its process must be gone: baselines that are not known yet are
   * measured now.
   */
  public static Comparison of(
      Timing.Result timing, Candidate candidate, Plan plan, CompiledBaselines baselines)
      throws InterruptedException {
    List<String> shapes = timing.sizes().stream().map(SizeTiming::shape).toList();
    String seed = Seeds.of(plan.secret(), candidate.task(), "baselines");
    List<CompiledTimes> compiled = new ArrayList<>();
    for (Baseline kind : plan.baseline().compiled()) {
      var asked =
          new CompiledBaselines.Asked(candidate.task(), kind, plan.cache(), plan.precision());
      compiled.add(baselines.of(asked, shapes, seed));
    }
    return of(plan, timing, compiled);
  }

  public static Comparison of(Plan plan, Timing.Result timing, List<CompiledTimes> compiled) {
    List<Verdict.Baseline> all = new ArrayList<>();
    all.add(eager(timing));
    for (CompiledTimes times : compiled) all.add(against(timing, times));
    Speedup speedup = speedup(plan, all);
    if (timing.expert() != null) all.add(timing.expert());
    return new Comparison(speedup, all);
  }

  private static Verdict.Baseline eager(Timing.Result timing) {
    Speedup live = timing.speedup();
    List<Double> ms = timing.sizes().stream().map(SizeTiming::referenceMs).toList();
    return measured(Baseline.EAGER.label(), ratio(live), timing.geometric(), ms, null, null);
  }

  private static Ratio ratio(Speedup speedup) {
    return new Ratio(speedup.value(), speedup.low(), speedup.high());
  }

  private static Verdict.Baseline against(Timing.Result timing, CompiledTimes times) {
    if (!times.present()) {
      return new Verdict.Baseline(
          times.kind().label(), null, null, null, null, null, times.failure(), null, null);
    }
    Ratio over =
        RawRounds.overCompiled(
            ratio(timing.speedup()), times.ratios(), SizeTiming.weights(timing.sizes()));
    Ratio eager = timing.geometric();
    Ratio geometric = eager == null ? null : RawRounds.overCompiled(eager, times.ratios(), null);
    List<Double> ms = new ArrayList<>();
    for (int i = 0; i < times.sizes().size(); i++) {
      ms.add(timing.sizes().get(i).referenceMs() / times.sizes().get(i).ratio().value());
    }
    Instant oldest =
        times.sizes().stream()
            .map(CompiledTimes.Size::measured)
            .min(Comparator.naturalOrder())
            .orElseThrow();
    List<String> raw = times.sizes().stream().map(CompiledTimes.Size::raw).toList();
    return measured(times.kind().label(), over, geometric, ms, oldest, raw);
  }

  /**
   * A baseline that was timed.
   *
   * @param mean without weights; null where there are none
   */
  static Verdict.Baseline measured(
      String name,
      Ratio ratio,
      @Nullable Ratio mean,
      List<Double> ms,
      @Nullable Instant when,
      @Nullable List<String> raw) {
    return new Verdict.Baseline(
        name,
        ratio.value(),
        ratio.low(),
        ratio.high(),
        ms,
        when,
        null,
        raw,
        mean == null ? null : new Geometric(mean.value(), mean.low(), mean.high()));
  }

  private static @Nullable Speedup speedup(Plan plan, List<Verdict.Baseline> all) {
    Baseline wanted = plan.baseline();
    Optional<Verdict.Baseline> chosen =
        wanted == Baseline.BEST
            ? all.stream().filter(b -> b.speedup() != null).min(BY_SPEEDUP)
            : all.stream().filter(b -> b.name().equals(wanted.label())).findFirst();
    return chosen
        .map(b -> b.against(plan.against(wanted, wanted == Baseline.BEST ? b.name() : null)))
        .orElse(null);
  }

  /** The smallest speedup is the one over the fastest baseline. */
  private static final Comparator<Verdict.Baseline> BY_SPEEDUP =
      Comparator.comparingDouble(b -> Objects.requireNonNull(b.speedup()));
}
