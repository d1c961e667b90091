package dev.kbx.analysis;

import dev.kbx.analysis.Methods.Unmeasured;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * How failure goes with the complexity of code, and which optimization techniques succeed.
 *
 * @param withoutReference candidates on tasks whose reference has no known complexity, as the suite
 *     is missing, has changed since the run, or has no source of it
 * @param withoutFeatures candidates of whose source nothing is known: it does not parse, or an
 *     earlier version judged it
 */
public record CodeQuality(
    Inclusion entered,
    List<Unmeasured> unmeasured,
    int withoutReference,
    int withoutFeatures,
    List<ComplexityEffect> complexity,
    List<TechniqueUse> techniques) {

  /** Of the candidates of all runs; of several rounds the last one counts. */
  public static CodeQuality of(SelectedRuns runs) {
    Pool pool = runs.pool(Pool.Rounds.LAST);
    List<Unmeasured> unmeasured = new ArrayList<>();
    for (Outcome outcome : List.of(Outcome.CALLED, Outcome.CORRECT, Outcome.FASTER)) {
      String why = outcome.unmeasuredIn(runs);
      if (why != null) unmeasured.add(new Unmeasured(outcome, why));
    }
    List<Outcome> missing = unmeasured.stream().map(Unmeasured::outcome).toList();
    Map<MethodAndModel, List<VerdictRow>> makers = MethodAndModel.group(pool.rows());
    return new CodeQuality(
        pool.entered(),
        unmeasured,
        (int)
            pool.rows().stream()
                .filter(row ->
                    ComplexityEffect.Of.REFERENCE.size(
                            ComplexityEffect.Measure.COMPLEXITY, row, pool)
                        == null)
                .count(),
        (int) pool.rows().stream().filter(row -> row.features() == null).count(),
        missing.contains(Outcome.CALLED) ? List.of() : ComplexityEffect.of(pool, makers, missing),
        missing.contains(Outcome.CORRECT)
            ? List.of()
            : TechniqueUse.of(makers, !missing.contains(Outcome.FASTER)));
  }
}
