package dev.kbx.paper;

import dev.kbx.analysis.FastP;
import dev.kbx.analysis.Inclusion;
import dev.kbx.analysis.PassK;
import dev.kbx.analysis.Portability;
import dev.kbx.analysis.PropertyMatrix;
import dev.kbx.document.Section;
import dev.kbx.section.BudgetSection;
import dev.kbx.section.DevianceSection;
import dev.kbx.section.ErrorsSection;
import dev.kbx.section.FastPSection;
import dev.kbx.section.FindingSection;
import dev.kbx.section.IterationsSection;
import dev.kbx.section.MethodNames;
import dev.kbx.section.MethodsSection;
import dev.kbx.section.OverviewSection;
import dev.kbx.section.PortabilitySection;
import dev.kbx.section.PropertiesSection;
import dev.kbx.section.TurnsSection;
import dev.kbx.verdict.NoiseFloor;
import dev.kbx.verdict.RunInfo;
import java.util.ArrayList;
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
 * @param turns likewise
 * @param without analyses that the runs have no data for, with the reason
 */
public record Publication(
    String kind,
    int schema,
    OverviewSection.Overview analyses,
    List<FastP> fastp,
    List<PassK> passk,
    List<PropertyMatrix> properties,
    @Nullable Portability portability,
    List<BudgetSection.Curves> budgets,
    List<TurnsSection.Turns> turns,
    List<Without> without,
    Measurement measurement) {
  /** Version of the JSON document; a change of meaning or the loss of a field raises it. */
  private static final int SCHEMA = 1;

  public Publication(
      OverviewSection.Overview analyses,
      List<FastP> fastp,
      List<PassK> passk,
      List<PropertyMatrix> properties,
      @Nullable Portability portability,
      List<BudgetSection.Curves> budgets,
      List<TurnsSection.Turns> turns,
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
        List.copyOf(turns),
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

  /** The sections, in order; one without data has no blocks. */
  List<Section> sections() {
    MethodNames names = makers();
    List<Section> sections = new ArrayList<>();
    sections.add(FindingSection.of(analyses.finding(), analyses.methods()));
    sections.add(MethodsSection.of(analyses.methods()));
    sections.add(DevianceSection.of(analyses.deviance()));
    if (analyses.iterations() != null) sections.add(IterationsSection.of(analyses.iterations()));
    sections.add(FastPSection.of(fastp(), names));
    sections.add(PropertiesSection.of(properties(), names));
    sections.add(ErrorsSection.of(analyses.errors()));
    if (portability() != null) {
      sections.add(PortabilitySection.of(portability()));
    }
    sections.add(BudgetSection.of(budgets()));
    sections.add(TurnsSection.of(turns()));
    return sections;
  }

  /**
   * How the figures of some runs were measured: what a reviewer asks for.
   *
   * @param runs with their settings
   * @param entered which candidates were counted, and which were not
   * @param conditions under which they were judged
   * @param floors known noise floors of the devices
   */
  public record Measurement(
      List<RunInfo> runs,
      Inclusion entered,
      MeasurementConditions conditions,
      List<NoiseFloor> floors) {
    /** The title of the appendix. */
    static final String TITLE = "How this was measured";

    public Measurement {
      runs = List.copyOf(runs);
      floors = List.copyOf(floors);
    }

    /** Whether the runs are results as others published them: never only some of them. */
    boolean asPublished() {
      return runs.stream().anyMatch(run -> run.published() != null);
    }
  }
}
