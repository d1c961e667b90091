package dev.kbx.paper;

import dev.kbx.analysis.FastP;
import dev.kbx.analysis.PassK;
import dev.kbx.analysis.Portability;
import dev.kbx.analysis.PropertyMatrix;
import dev.kbx.section.BudgetSection;
import dev.kbx.section.MethodNames;
import dev.kbx.section.Overview;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * All analyses of some runs, and how they were measured: the document of {@code kbx report --format
 * json}.
 *
 * @param kind {@code report}: the kind of this JSON document
 * @param schema {@link #SCHEMA}
 * @param fastp for each run, method, model and round; empty if no run was judged for correctness
 * @param properties where kernels hold, for each method and model
 * @param portability null if the runs are not on several devices
 * @param budgets of the runs that have a ledger
 * @param without analyses that the runs have no data for, with the reason
 */
public record Publication(
    String kind,
    int schema,
    Overview analyses,
    List<FastP> fastp,
    List<PassK> passk,
    List<PropertyMatrix> properties,
    @Nullable Portability portability,
    List<BudgetSection.Curves> budgets,
    List<Without> without,
    Measurement measurement) {
  /** Version of the JSON document; a change of meaning or the loss of a field raises it. */
  private static final int SCHEMA = 1;

  public Publication(
      Overview analyses,
      List<FastP> fastp,
      List<PassK> passk,
      List<PropertyMatrix> properties,
      @Nullable Portability portability,
      List<BudgetSection.Curves> budgets,
      List<Without> without,
      Measurement measurement) {
    this(
        "report",
        SCHEMA,
        analyses,
        List.copyOf(fastp),
        List.copyOf(passk),
        List.copyOf(properties),
        portability,
        List.copyOf(budgets),
        List.copyOf(without),
        measurement);
  }

  /** An analysis without data: its name, and why as a clause. */
  public record Without(String analysis, String why) {}

  /** The names of methods and models in tables and figures. */
  MethodNames makers() {
    return MethodNames.of(analyses.methods().entered());
  }

  /** Suite and runs, as a title. */
  String title() {
    List<String> runs = analyses.methods().entered().runs();
    return "%s: %s%s"
        .formatted(
            analyses.methods().entered().suite(),
            runs.size() == 1 ? "run " + runs.getFirst() : runs.size() + " runs",
            measurement.asPublished() ? ", as published" : "");
  }
}
