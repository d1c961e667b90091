package dev.kbx.report;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.analysis.BudgetCurve;
import dev.kbx.analysis.Comparison;
import dev.kbx.analysis.Errors;
import dev.kbx.analysis.JudgedRun;
import dev.kbx.analysis.Methods;
import dev.kbx.analysis.SelectedRuns;
import dev.kbx.analysis.Tally;
import dev.kbx.analysis.VerdictRow;
import dev.kbx.document.Block;
import dev.kbx.document.Cell;
import dev.kbx.document.Medium;
import dev.kbx.document.Section;
import dev.kbx.document.Text;
import dev.kbx.section.AdvisedErrors;
import dev.kbx.section.BudgetSection;
import dev.kbx.section.ComparisonSection;
import dev.kbx.section.ErrorsSection;
import dev.kbx.section.MethodsSection;
import dev.kbx.section.PropertiesSection;
import dev.kbx.section.RatesSection;
import dev.kbx.section.TrajectoriesSection;
import dev.kbx.section.TrajectoriesSectionTest;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Verdict;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Whatever the medium, the sections of pages and tables have the same figures. */
class SectionMediaTest {
  static Stream<Section> sections() {
    List<Verdict> verdicts = Made.several();
    RunInfo run = Fixtures.run(Fixtures.H200, verdicts.size(), 20);
    RunVerdicts all = RunVerdicts.of(verdicts);
    List<VerdictRow> rows = all.rows();
    JudgedRun judged = new JudgedRun(run, rows);
    SelectedRuns asked = SelectedRuns.of(judged, Fixtures.asked(run, verdicts));
    Tally tally = Tally.of(run, rows, Fixtures.asked(run, verdicts));
    List<Section> sections = new ArrayList<>(RatesSection.of(run, tally, rows));
    sections.add(MethodsSection.of(Methods.of(asked, List.of(1), List.of())));
    sections.add(ErrorsSection.of(AdvisedErrors.of(Errors.of(asked, all.causes()))));
    sections.add(PropertiesSection.of(rows));
    sections.addAll(ComparisonSection.page(Comparison.of(judged, judged, List.of()), _ -> null));
    sections.add(TrajectoriesSection.rates(TrajectoriesSectionTest.rows(null, 1.6)));
    sections.add(
        BudgetSection.of(
            new BudgetSection.Curves(
                "run", BudgetCurve.of(TrajectoriesSectionTest.rows(null, 1.6)))));
    return sections.stream();
  }

  @ParameterizedTest
  @MethodSource("sections")
  void everyMediumShowsEveryFigure(Section section) {
    for (Medium medium : Medium.values()) {
      String shown = medium.plain(section);
      for (Block.Table table : section.tables()) {
        for (List<Cell> row : table.rows()) {
          for (int i = 0; i < row.size(); i++) {
            if (!table.columns().get(i).number()) continue;
            assertThat(shown)
                .as("%s: %s of %s", medium, table.columns().get(i).head(), table.id())
                .contains(Text.clean(row.get(i).text()));
          }
        }
      }
      for (Block block : section.blocks()) {
        if (!(block instanceof Block.Tiles tiles)) continue;
        for (Block.Tile tile : tiles.tiles()) assertThat(shown).contains(tile.figure().brief());
      }
    }
  }
}
