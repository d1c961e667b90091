package dev.kbx.document;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Every medium shows the same cells, and no text of a candidate acts in any. */
class RenderersTest {
  private static final Block.Table TABLE =
      new Block.Table(
          "all-cells",
          "Every kind of cell.",
          List.of(Column.text("kind"), Column.number("value"), Column.number("p").optional()),
          List.of(
              row("text", Cell.text("a_b"), Cell.probability(0.0130)),
              row("count", Cell.count(1234), Cell.probability(0.0004)),
              row("label", Cell.label("crashed", Cell.Tone.BAD), Cell.missing()),
              row("link", Cell.link(Cell.count(7), "status=crashed"), Cell.missing()),
              row("rate", Cell.rate(14, 20, 0.7, 0.48, 0.85), Cell.missing()),
              row("points", Cell.points(0.5, 0.12, 0.8), Cell.missing()),
              row("seconds", Cell.seconds(0.0000482), Cell.seconds(3.04)),
              row("minutes", Cell.seconds(125.0), Cell.seconds(11_520.0)),
              row("price", Cell.usd(12.5), Cell.usd(0.03125)),
              row("fine", Cell.fine(1.0234, true), Cell.fine(0.0043, false)),
              row("part", Cell.part(14, 20), Cell.missing()),
              row("share", Cell.share(0.625), Cell.missing()),
              row("share in", Cell.share(0.625, 0.5214, 0.71), Cell.missing()),
              row("ratio", Cell.ratio(1.519, 1.5, 1.54), Cell.missing()),
              row("odds", Cell.odds(2.0, 0.43, Double.POSITIVE_INFINITY), Cell.missing()),
              row("small", Cell.statistic(3.841), Cell.missing()),
              row("large", Cell.statistic(710.62), Cell.missing()),
              row("unknown", Cell.share(null), Cell.count(null))));

  private static final Section SECTION =
      new Section(
          "cells", "All cells", List.of(new Block.Prose("Prose."), TABLE, new Block.Note("Note.")));

  private static List<Cell> row(String kind, Cell value, Cell p) {
    return List.of(Cell.text(kind), value, p);
  }

  @ParameterizedTest
  @EnumSource(Medium.class)
  void everyMediumShowsTheSameCells(Medium medium) {
    List<List<String>> expected =
        TABLE.rows().stream().map(row -> row.stream().map(Cell::text).toList()).toList();
    assertThat(medium.cells(medium.render(SECTION), expected.size())).isEqualTo(expected);
  }

  @Test
  void htmlLinksOnlyWithATarget() {
    assertThat(HtmlRenderer.render(SECTION)).doesNotContain("<a ");
    assertThat(HtmlRenderer.render(SECTION, "#"))
        .contains("<a href=\"#status&#x3D;crashed\">7</a>");
  }

  @ParameterizedTest
  @EnumSource(Medium.class)
  void everyMediumShowsTilesAndChanges(Medium medium) {
    Section section =
        new Section(
            "s",
            "S",
            List.of(
                new Block.Tiles(
                    List.of(
                        new Block.Tile("Called", Cell.share(0.8, 0.58, 0.92), "of 20 tasks"),
                        new Block.Tile("Timed", Cell.missing(), ""))),
                new Block.Diff("Changes", "@@ 1 @@")));
    assertThat(medium.render(section).replace("\\", "").replace("{[}", "["))
        .containsSubsequence("Called", "80.0 %", "[58", "of 20 tasks", "Timed", "@@ 1 @@");
  }

  @ParameterizedTest
  @EnumSource(Medium.class)
  void everyMediumShowsCaptionProseAndNote(Medium medium) {
    assertThat(medium.render(SECTION)).contains("Every kind of cell.", "Prose.", "Note.");
  }

  @Test
  void numbersHaveTheFormatOfTheirCellType() {
    assertThat(TABLE.rows().stream().map(row -> row.get(1).text()))
        .containsExactly(
            "a_b",
            "1,234",
            "crashed",
            "7",
            "14/20 70.0 % [48–85]",
            "+50 [+12 to +80]",
            "0.0482 ms",
            "2 min 5 s",
            "12.50",
            "1.023×",
            "14 of 20",
            "62.5 %",
            "62.5 % [52–71]",
            "1.52× [1.50–1.54]",
            "2.00 [0.43–∞]",
            "3.84",
            "710.6",
            "–");
    assertThat(TABLE.rows().stream().map(row -> row.get(2).text()))
        .containsSubsequence("0.013", "< 0.001", "3.04 s", "3 h 12 min", "0.0313", "0.43 %");
  }

  @ParameterizedTest
  @EnumSource(Medium.class)
  void markupInTextIsEscaped(Medium medium) {
    String hostile = "<script>\u001b[31m|\\input{/etc/passwd}\u202e\n# x";
    Block.Table table =
        new Block.Table(
            "t", hostile, List.of(Column.text("kind")), List.of(List.of(Cell.text(hostile))));
    Section section =
        new Section(
            "s", hostile, List.of(table, new Block.Prose(hostile), new Block.Note(hostile)));
    String shown = medium.render(section);
    assertThat(shown).doesNotContain("\u001b", "\u202e");
    switch (medium) {
      case HTML -> assertThat(shown).doesNotContain("<script");
      case LATEX -> assertThat(shown).doesNotContain("\\input{");
      case MARKDOWN -> {
        assertThat(shown).doesNotContain("<script");
        assertThat(shown.lines().filter(line -> line.startsWith("# x"))).isEmpty();
      }
      case TERMINAL -> assertThat(shown.lines().filter(line -> line.startsWith("# x"))).isEmpty();
    }
  }

  @Test
  void narrowTerminalDropsOptionalColumns() {
    Document document = Document.of(SECTION);
    assertThat(new TerminalRenderer(50).render(document)).contains("0.013");
    String narrow = new TerminalRenderer(30).render(document);
    assertThat(narrow).contains("1.52× [1.50–1.54]").doesNotContain("0.013");
    assertThat(narrow.lines()).allMatch(line -> Text.columns(line) <= 30);
  }

  @Test
  void longTableIsSplitInLatex() {
    List<List<Cell>> rows = new ArrayList<>();
    for (int i = 0; i < 100; i++) rows.add(List.of(Cell.count(i)));
    String tex =
        LatexRenderer.render(new Block.Table("long", "Long.", List.of(Column.number("n")), rows));
    assertThat(Pattern.compile("\\\\label\\{(.*?)}").matcher(tex).results().map(r -> r.group(1)))
        .containsExactly("tab:long-1", "tab:long-2", "tab:long-3");
    assertThat(tex).containsOnlyOnce("99 \\\\");
  }

  @Test
  void longNamesLeaveRoomForProse() {
    String prose = "Mask the last block, use each tensor's strides, and accumulate in float32";
    Block.Table table =
        Block.Table.of(
            "t",
            "",
            List.of(
                Column.text("name", each -> "a/rather/long/name/of/a/task/" + each),
                Column.<String>text("advice", each -> each).wrapped()),
            List.of(prose));
    String text =
        new TerminalRenderer(60).render(Document.of(new Section("s", "S", List.of(table))));
    assertThat(text.lines()).allMatch(line -> Text.columns(line) <= 60);
    for (String word : prose.split(" ", -1)) assertThat(text).contains(word);
    assertThat(text.lines().skip(1)).noneMatch(line -> line.endsWith("…"));
  }

  @Test
  void sectionsOfOneKindHaveDistinctIds() {
    Document document = Document.ofAlike("both", List.of(SECTION, SECTION));
    assertThat(document.sections()).extracting(Section::id).containsExactly("cells-1", "cells-2");
    assertThat(document.sections().stream().flatMap(each -> each.tables().stream()))
        .extracting(Block.Table::id)
        .containsExactly("all-cells-1", "all-cells-2");
  }

  @Test
  void proseLinesAreEscapedInMarkdown() {
    for (String text : List.of("# x", "> x", ">x", "- x", "+ x", "1. x", "#", "2) x")) {
      assertThat(MarkdownRenderer.escape(text)).as(text).contains("\\");
    }
    assertThat(List.of("-0.3 %", "+50", "1.5", "–"))
        .allMatch(text -> MarkdownRenderer.escape(text).equals(text));
  }

  @Test
  void sourceIsFencedInMarkdown() {
    Section section =
        new Section("s", "S", List.of(new Block.Source("a = 1\n# ```x\u202e\n<b>", "python")));
    assertThat(MarkdownRenderer.lines(section))
        .containsSubsequence("## S", "", "````python", "a = 1", "# ```x\\u202e", "<b>", "````");
  }

  @Test
  void foldedSectionsAreDetailsInMarkdownAndLeftOutOfABriefDocument() {
    Section open = new Section("a", "Open", List.of(new Block.Prose("First.")));
    Section folded = new Section("b", "Folded", List.of(new Block.Prose("Second."))).fold();
    Document document = new Document("D", List.of(open, folded));
    assertThat(MarkdownRenderer.render(document))
        .isEqualTo(
            """
            # D

            ## Open

            First.

            <details>
            <summary>Folded</summary>

            Second.

            </details>
            """);
    assertThat(new TerminalRenderer(80).render(document.brief()))
        .contains("First.")
        .doesNotContain("Second.", "Folded");
  }
}
