package dev.kbx.analysis;

import dev.kbx.verdict.RunInfo;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Methods and models side by side: rates by category, pairwise tests on the same tasks, which tasks
 * who solves, and what several samples gain.
 *
 * @param unmeasured outcomes that were not measured in all runs, with the reason
 * @param pairs each two of them, by outcome
 * @param ablations pairs that differ in one condition of generation, by outcome
 */
public record Methods(
    Inclusion entered,
    List<Unmeasured> unmeasured,
    List<MethodRates> methods,
    List<MethodPair> pairs,
    List<Ablation> ablations,
    List<SolvedTasks> solved) {

  /** An outcome without figures. */
  public record Unmeasured(Outcome outcome, String why) {}

  /** All that is tested of one outcome, corrected together. */
  private record Tests(List<MethodPair> pairs, List<Ablation> ablations) {
    static Tests of(Outcome outcome, Map<MethodAndModel, List<VerdictRow>> makers, Pool pool) {
      List<MethodPair> pairs = MethodPair.of(makers, outcome);
      List<Ablation> ablations = Ablation.of(pool, outcome);
      Map<PairedTasks, Double> holm =
          PairedTasks.corrected(
              Stream.concat(
                      pairs.stream().flatMap(MethodPair::tests),
                      ablations.stream().map(Ablation::compared))
                  .toList());
      return new Tests(
          pairs.stream().map(each -> each.corrected(holm)).toList(),
          ablations.stream().map(each -> each.corrected(holm)).toList());
    }
  }

  /**
   * Compares the candidates of all runs; of several rounds the last one counts.
   *
   * @param ks numbers of samples, for pass@k
   * @param ps speedups, for fast_p@k
   */
  public static Methods of(SelectedRuns runs, List<Integer> ks, List<Double> ps) {
    Pool pool = runs.pool(Pool.Rounds.LAST);
    List<Unmeasured> unmeasured = new ArrayList<>();
    List<Outcome> measured = new ArrayList<>();
    for (Outcome outcome : Outcome.values()) {
      String why =
          pool.entered().ofChanges() ? RunInfo.Published.NO_RATES : outcome.unmeasuredIn(runs);
      if (why == null) measured.add(outcome);
      else unmeasured.add(new Unmeasured(outcome, why));
    }
    Map<MethodAndModel, List<VerdictRow>> makers = MethodAndModel.group(pool.rows());
    Map<MethodAndModel, List<VerdictRow>> unjudged = MethodAndModel.group(pool.unjudged());
    CategorySizes sizes = CategorySizes.of(runs.runs(), pool.rows());
    List<MethodRates> methods =
        List.copyOf(makers.entrySet()).parallelStream()
            .map(maker ->
                MethodRates.of(
                    maker.getKey(),
                    maker.getValue(),
                    unjudged.getOrDefault(maker.getKey(), List.of()),
                    measured,
                    sizes,
                    ks,
                    ps))
            .toList();
    List<Tests> tests =
        measured.parallelStream().map(outcome -> Tests.of(outcome, makers, pool)).toList();
    return new Methods(
        pool.entered(),
        unmeasured,
        methods,
        tests.stream().flatMap(each -> each.pairs().stream()).toList(),
        tests.stream().flatMap(each -> each.ablations().stream()).toList(),
        measured.contains(Outcome.CORRECT) ? SolvedTasks.of(pool) : List.of());
  }
}
