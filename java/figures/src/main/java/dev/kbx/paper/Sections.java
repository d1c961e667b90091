package dev.kbx.paper;

import dev.kbx.document.Section;
import dev.kbx.section.BudgetSection;
import dev.kbx.section.DevianceSection;
import dev.kbx.section.ErrorsSection;
import dev.kbx.section.FastPSection;
import dev.kbx.section.IterationsSection;
import dev.kbx.section.MethodNames;
import dev.kbx.section.MethodsSection;
import dev.kbx.section.Overview;
import dev.kbx.section.PortabilitySection;
import dev.kbx.section.PropertiesSection;
import java.util.ArrayList;
import java.util.List;

/** The sections of a publication, in order; one without data has no blocks. */
final class Sections {
  private Sections() {}

  static List<Section> of(Publication publication) {
    Overview analyses = publication.analyses();
    MethodNames names = publication.makers();
    List<Section> sections = new ArrayList<>();
    sections.add(MethodsSection.of(analyses.methods()));
    sections.add(DevianceSection.of(analyses.deviance()));
    if (analyses.iterations() != null) sections.add(IterationsSection.of(analyses.iterations()));
    sections.add(FastPSection.of(publication.fastp(), names));
    sections.add(PropertiesSection.of(publication.properties(), names));
    sections.add(ErrorsSection.of(analyses.errors()));
    if (publication.portability() != null) {
      sections.add(PortabilitySection.of(publication.portability()));
    }
    sections.add(BudgetSection.of(publication.budgets()));
    return sections;
  }
}
