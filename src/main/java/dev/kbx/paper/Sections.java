package dev.kbx.paper;

import dev.kbx.document.Block;
import dev.kbx.document.Section;
import dev.kbx.section.DevianceSection;
import java.util.List;

/** The sections of a publication, in order; one without data has no blocks. */
final class Sections {
  private Sections() {}

  static List<Section> of(Publication publication) {
    var analyses = publication.analyses();
    Makers makers = publication.makers();
    return List.of(
        section("methods", "Methods and models", MethodTables.of(analyses.methods(), makers)),
        DevianceSection.of(analyses.deviance()),
        section(
            "iterations",
            "Iterations",
            analyses.iterations() == null
                ? List.of()
                : IterationTables.of(analyses.iterations(), makers)),
        section("speed", "Speed", SpeedTables.of(publication)),
        section(
            "properties", "Where kernels hold", MatrixTables.of(publication.properties(), makers)),
        section("errors", "What goes wrong", ErrorTables.of(analyses.errors())),
        section(
            "devices",
            "Devices",
            publication.portability() == null
                ? List.of()
                : DeviceTables.of(publication.portability())),
        section("budget", "Budget", BudgetTables.of(publication)));
  }

  private static Section section(String id, String title, List<? extends Block> blocks) {
    return new Section(id, title, List.copyOf(blocks));
  }
}
