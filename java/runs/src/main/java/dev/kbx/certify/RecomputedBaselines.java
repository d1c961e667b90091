package dev.kbx.certify;

import dev.kbx.stats.LogMean;
import dev.kbx.stats.Ratio;
import dev.kbx.timing.RawRounds;
import dev.kbx.verdict.Against;
import dev.kbx.verdict.Verdict.Baseline;
import dev.kbx.verdict.Verdict.Geometric;
import dev.kbx.verdict.Verdict.SizeTiming;
import dev.kbx.verdict.Verdict.Speedup;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Computes the speedups of one verdict over its baselines again, and compares: over eager from the
 * rounds of its sizes, over a compiled reference from these and from its own.
 */
final class RecomputedBaselines {
  private static final String EAGER = "eager";

  private final CertificateEntry entry;
  private final List<SizeTiming> sizes;
  private final List<Baseline> baselines;
  private final @Nullable List<Double> weights;
  private final @Nullable Ratio overEager;
  private final @Nullable Ratio geometric;
  private final Comparing comparing;
  private final Consumer<String> problems;
  private int compiled;
  private int unchecked;

  /** Compares a number that is stated with what was computed. */
  interface Comparing {
    void same(String where, String what, double stated, double computed);
  }

  /**
   * @param figures of all timed sizes; null if one of these has no rounds
   */
  RecomputedBaselines(
      CertificateEntry entry,
      @Nullable List<RawRounds.Figures> figures,
      Comparing comparing,
      Consumer<String> problems) {
    this.entry = entry;
    this.sizes = Objects.requireNonNullElse(entry.verdict().judgement().sizes(), List.of());
    this.baselines = Objects.requireNonNullElse(entry.verdict().judgement().baselines(), List.of());
    this.weights = SizeTiming.weights(sizes);
    List<LogMean> logs =
        figures == null ? null : figures.stream().map(RawRounds.Figures::log).toList();
    this.overEager = logs == null ? null : RawRounds.speedup(logs, weights);
    this.geometric = logs == null ? null : RawRounds.speedup(logs, null);
    this.comparing = comparing;
    this.problems = problems;
  }

  /** Number of speedups over compiled references that were computed. */
  int compiled() {
    return compiled;
  }

  /** Number of those that were not, as these have no rounds. */
  int unchecked() {
    return unchecked;
  }

  void check() {
    for (int i = 0; i < baselines.size(); i++) {
      Baseline baseline = baselines.get(i);
      Speedup stated = baseline.against(baseline.name());
      if (stated == null) continue;
      if (baseline.name().equals(EAGER)) eager(stated, baseline);
      else if (baseline.name().equals(Baseline.EXPERT)) {
        expert(stated, baseline, entry.compiled().get(i));
      } else compiled(stated, baseline, entry.compiled().get(i));
    }
    Speedup main = entry.verdict().judgement().speedup();
    if (main != null) main(main);
  }

  private void eager(Speedup stated, Baseline baseline) {
    if (overEager != null) compare(entry.name(), stated, overEager);
    if (geometric != null) geometric(entry.name(), baseline, geometric);
    List<Double> ms = sizesMs(baseline);
    for (int i = 0; i < ms.size(); i++) {
      comparing.same(at(baseline, i), "sizes_ms", ms.get(i), sizes.get(i).referenceMs());
    }
  }

  /** Recomputes an expert's kernel, which was timed beside the candidate itself. */
  private void expert(Speedup stated, Baseline baseline, List<List<List<Double>>> rounds) {
    if (rounds.size() != sizes.size()) {
      problems.accept("%s: it has rounds of other sizes".formatted(against(baseline)));
      return;
    }
    compiled++;
    List<RawRounds.Figures> figures = rounds.stream().map(RawRounds::figures).toList();
    List<LogMean> shares = figures.stream().map(RawRounds.Figures::log).toList();
    compare(against(baseline), stated, RawRounds.speedup(shares, weights));
    geometric(against(baseline), baseline, RawRounds.speedup(shares, null));
    List<Double> ms = sizesMs(baseline);
    for (int i = 0; i < ms.size(); i++) {
      comparing.same(at(baseline, i), "sizes_ms", ms.get(i), figures.get(i).referenceMs());
    }
  }

  /**
   * Recomputes a compiled reference.
   *
   * @param rounds of each size; empty if there are none
   */
  private void compiled(Speedup stated, Baseline baseline, List<List<List<Double>>> rounds) {
    if (overEager == null || geometric == null) return; // Said of the verdict as a whole.
    if (rounds.isEmpty()) {
      unchecked++;
      return;
    }
    if (rounds.size() != sizes.size()) {
      problems.accept("%s: it has rounds of other sizes".formatted(against(baseline)));
      return;
    }
    compiled++;
    List<Ratio> gains = rounds.stream().map(each -> RawRounds.figures(each).speedup()).toList();
    compare(against(baseline), stated, RawRounds.overCompiled(overEager, gains, weights));
    geometric(against(baseline), baseline, RawRounds.overCompiled(geometric, gains, null));
    List<Double> ms = sizesMs(baseline);
    for (int i = 0; i < ms.size(); i++) {
      double computed = sizes.get(i).referenceMs() / gains.get(i).value();
      comparing.same(at(baseline, i), "sizes_ms", ms.get(i), computed);
    }
  }

  /** Milliseconds of each size; empty where not stated. */
  private List<Double> sizesMs(Baseline baseline) {
    List<Double> ms = baseline.sizesMs();
    if (ms == null || ms.size() == sizes.size()) return ms == null ? List.of() : ms;
    problems.accept("%s: it has times of other sizes".formatted(against(baseline)));
    return List.of();
  }

  /** The verdict's own speedup is that over the baseline that it names. */
  private void main(Speedup main) {
    Against named = Against.of(main.baseline());
    if (named.measured().equals(EAGER) && overEager != null) {
      compare(entry.name(), main, overEager);
    } else {
      Optional<Speedup> same =
          baselines.stream()
              .filter(each -> each.name().equals(named.measured()))
              .flatMap(each -> Optional.ofNullable(each.against(each.name())).stream())
              .findFirst();
      if (same.isPresent()) compare(entry.name(), main, ratio(same.get()));
      else if (overEager != null) unchecked++;
    }
    if (named.fastest() != null) fastest(main);
  }

  /** No baseline is faster than the fastest. */
  private void fastest(Speedup main) {
    for (Baseline each : baselines) {
      if (each.speedup() == null || each.speedup() >= main.value()) continue;
      problems.accept(
          "%s: its speedup is against %s, and %s is faster"
              .formatted(entry.name(), main.baseline(), each.name()));
    }
  }

  private String against(Baseline baseline) {
    return "%s, against %s".formatted(entry.name(), baseline.name());
  }

  private String at(Baseline baseline, int size) {
    return "%s, size %s".formatted(against(baseline), sizes.get(size).shape());
  }

  /** Compares what is stated beside a weighted speedup. */
  private void geometric(String where, Baseline baseline, Ratio computed) {
    Geometric stated = baseline.geometric();
    if (stated == null) return;
    comparing.same(where, "geometric.value", stated.value(), computed.value());
    comparing.same(where, "geometric.low", stated.low(), computed.low());
    comparing.same(where, "geometric.high", stated.high(), computed.high());
  }

  private static Ratio ratio(Speedup speedup) {
    return new Ratio(speedup.value(), speedup.low(), speedup.high());
  }

  private void compare(String where, Speedup stated, Ratio computed) {
    comparing.same(where, "speedup", stated.value(), computed.value());
    comparing.same(where, "low", stated.low(), computed.low());
    comparing.same(where, "high", stated.high(), computed.high());
  }
}
