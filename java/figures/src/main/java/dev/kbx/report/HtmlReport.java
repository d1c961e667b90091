package dev.kbx.report;

import dev.kbx.analysis.BudgetCurve;
import dev.kbx.analysis.JudgedRun;
import dev.kbx.analysis.MethodAndModel;
import dev.kbx.analysis.SelectedRuns;
import dev.kbx.analysis.Tally;
import dev.kbx.analysis.TrajectoryRates;
import dev.kbx.analysis.VerdictRow;
import dev.kbx.document.Block;
import dev.kbx.document.Block.Tile;
import dev.kbx.document.Cell;
import dev.kbx.document.Counted;
import dev.kbx.document.HtmlRenderer;
import dev.kbx.document.Section;
import dev.kbx.document.Text;
import dev.kbx.section.BudgetSection;
import dev.kbx.section.ErrorsSection;
import dev.kbx.section.MethodsSection;
import dev.kbx.section.PropertiesSection;
import dev.kbx.section.RatesSection;
import dev.kbx.section.TrajectoriesSection;
import dev.kbx.section.TurnsSection;
import dev.kbx.section.TurnsSection.Turns;
import dev.kbx.stats.Rate;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict;
import dev.kbx.verdict.Verdict.Speedup;
import java.io.IOException;
import java.io.Writer;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * {@code report.html}: the template of the resources with its {@code {{holes}}} filled.
 *
 * <p>Header, rates and a plain table of verdicts are markup made here, so they need no script. The
 * sortable table, the charts and the details are built by the page's script from {@link PageData}.
 * Text of candidates is escaped here and set as text there. A content security policy allows only
 * our scripts and style, by hash, so that missed markup does nothing.
 *
 * @param makers all rows by method and model; their figures are never mixed
 * @param data of the candidates that are shown
 * @param details of the same
 * @param sourcesFile the file beside the page with all sources
 * @param problems what could not be read
 * @param methods what wrote the candidates; null if that is not known
 */
record HtmlReport(
    RunInfo run,
    Tally tally,
    List<VerdictRow> rows,
    Map<MethodAndModel, List<VerdictRow>> makers,
    PageData data,
    PageData.Details details,
    String sourcesFile,
    List<String> problems,
    ResultFiles.@Nullable MethodsReport methods,
    Answer answer) {
  private static final String SCRIPT = PageScript.text();

  /** Maximum trajectories that are shown round by round; the details of candidates have all. */
  private static final int MOST_TRAJECTORIES = 60;

  /** Maximum rows of a page. */
  private static final int MOST_ROWS = 10_000;

  /** Maximum rows of the table for browsers without scripts. */
  private static final int MOST_PLAIN = 2_000;

  static HtmlReport of(
      RunInfo run,
      Tally tally,
      RunVerdicts verdicts,
      Function<Verdict, String> sourceOf,
      String sourcesFile,
      List<String> problems,
      ResultFiles.@Nullable MethodsReport methods) {
    List<RunVerdicts.Entry> shown = shown(verdicts.entries());
    Map<MethodAndModel, List<VerdictRow>> makers = MethodAndModel.group(verdicts.rows());
    List<MethodAndModel> names = List.copyOf(makers.keySet());
    PageData data =
        new PageData(
            shown,
            verdicts,
            names,
            sourceOf,
            methods == null ? List.of() : methods.trajectories(),
            shown.size() > 1
                ? PageData.Speed.of(run, verdicts, shown, tally.asked(), names)
                : null);
    SelectedRuns asked = SelectedRuns.of(new JudgedRun(run, verdicts.rows()), tally.asked());
    return new HtmlReport(
        run,
        tally,
        verdicts.rows(),
        makers,
        data,
        data.details(),
        sourcesFile,
        problems,
        methods,
        Answer.of(run, asked, verdicts.causes(), methods != null));
  }

  /** All verdicts, or if they are too many the first samples of every task. */
  private static List<RunVerdicts.Entry> shown(List<RunVerdicts.Entry> entries) {
    if (entries.size() <= MOST_ROWS) return entries;
    var chosen =
        entries.stream()
            .sorted(Comparator.comparingInt(entry -> entry.row().sample()))
            .limit(MOST_ROWS)
            .map(RunVerdicts.Entry::position)
            .collect(Collectors.toSet());
    return entries.stream().filter(entry -> chosen.contains(entry.position())).toList();
  }

  void write(Writer writer) throws IOException {
    Html.Template.fill("report.html", writer, this::fill);
  }

  private void fill(Writer writer, String hole) throws IOException {
    switch (hole) {
      case "script" -> writer.write(SCRIPT);
      case "script-hash" -> writer.write(Html.Template.hash(SCRIPT));
      case "charts-hash" -> writer.write(charted() ? " '" + PageScript.chartsHash() + "'" : "");
      case "charts" -> {
        if (charted()) PageScript.writeCharts(writer);
      }
      case "run" -> writer.write(Html.escape(run.title()));
      case "headline" -> writer.write(head().headline());
      case "lead" -> writer.write(lead());
      case "facts" -> head().facts(writer);
      case "notes" -> notes(writer);
      case "sections" -> {
        for (Section section : sections()) write(writer, section);
      }
      case "sources-file" -> writer.write(sourcesFile);
      case "speed" -> {
        if (charted()) writer.write(Html.resource("report-speed.html"));
      }
      case "verdicts" -> plainTable(writer);
      case "rows" -> data.writeRows(writer);
      case "details" -> details.write(writer);
      case "more" -> {
        for (Section section : inDetail()) write(writer, section);
        if (methods != null) {
          write(writer, BudgetSection.figures(BudgetCurve.of(methods.rows())));
          Turns turns = Turns.of(run.id(), methods.rows(), methods.followed());
          write(writer, TurnsSection.folded(turns));
          write(writer, TrajectoriesSection.rounds(methods.rows(), MOST_TRAJECTORIES));
        }
      }
      default ->
          throw new IllegalStateException("the template has an unknown placeholder: " + hole);
    }
  }

  private boolean charted() {
    return data.speed() != null;
  }

  private Head head() {
    return new Head(run, tally, rows, methods, makers.size(), answer.headline());
  }

  /** What came of the candidates: how good, and what goes wrong. */
  private List<Section> sections() {
    if (run.ofFiles() && methods == null && rows.size() == 1) return List.of(outcome());
    List<Section> sections = new ArrayList<>();
    if (methods != null) sections.add(TrajectoriesSection.rates(methods.rows()));
    if (answer.compared() != null) {
      sections.addAll(answer.ranked());
    } else if (run.ofFiles() || run.ofChanges()) {
      sections.add(RatesSection.statuses(Tally.byStatus(rows)));
    } else {
      sections.addAll(RatesSection.of(run, tally, rows));
    }
    sections.add(answer.why());
    return sections;
  }

  /** What a reader looks up. */
  private List<Section> inDetail() {
    List<Section> sections = new ArrayList<>();
    if (answer.compared() != null) sections.add(MethodsSection.of(answer.compared()).fold());
    if (rows.size() > 1) sections.add(ErrorsSection.details(answer.errors()));
    sections.add(PropertiesSection.of(rows).fold());
    return sections;
  }

  /** The evidence of the headline, as a paragraph. */
  private String lead() {
    String words = rows.size() < 2 ? "" : answer.evidence();
    return words.isEmpty() ? "" : "<p class=\"lead\">%s</p>\n".formatted(Html.escape(words));
  }

  /** What came of a single candidate. */
  private Section outcome() {
    Verdict verdict = data.verdicts().whole(data.shown().getFirst());
    Status status = verdict.judgement().status();
    String message =
        Text.cut(Text.clean(verdict.judgement().message()), PageData.Row.LONGEST_MESSAGE);
    Speedup speedup = verdict.judgement().speedup();
    List<Tile> tiles = new ArrayList<>();
    tiles.add(
        new Tile(
            "Status",
            RatesSection.label(status),
            (status == Status.CORRECT
                    ? "passed " + stages()
                    : "decided by the stage " + verdict.judgement().stage().label())
                + (message.isEmpty() ? "" : ": " + message)));
    if (speedup != null) {
      tiles.add(
          new Tile("Speedup", RatesSection.speedup(speedup), "against " + speedup.baseline()));
    }
    if (verdict.judgement().expert() != null) {
      tiles.add(
          new Tile(
              "Of the expert's speed",
              RatesSection.ofExpert(verdict.judgement()),
              "timed in the same rounds"));
    }
    return new Section("outcome", "Verdict", List.of(new Block.Tiles(tiles)));
  }

  private String stages() {
    return run.stages().stream()
        .filter(stage -> stage != Stage.PERF || tally.perf())
        .map(Stage::label)
        .collect(Collectors.joining(" → "));
  }

  private static void write(Writer writer, @Nullable Section section) throws IOException {
    if (section == null || section.blocks().isEmpty()) return;
    writer.write(HtmlRenderer.render(section, "#"));
  }

  private void notes(Writer writer) throws IOException {
    for (Notes.Note note : Notes.of(run, rows, tally)) {
      note(writer, note.id(), note.text());
    }
    if (data.shown().size() < rows.size()) {
      note(
          writer,
          "cut",
          "The table has %,d of %,d candidates, the first samples of every task. All are in results.jsonl, their sources in %s."
              .formatted(data.shown().size(), rows.size(), sourcesFile));
    }
    if (details.without() > 0) {
      note(
          writer,
          "cut-sources",
          "The details of %,d of %,d candidates have neither source nor prompts: the page would be too large. All sources are in %s."
              .formatted(details.without(), data.shown().size(), sourcesFile));
    }
    if (methods != null && methods.trajectories().size() < methods.rows().size()) {
      note(
          writer,
          "cut-trajectories",
          "The details have the prompts and replies of %,d of %,d candidates. All are in ledger.jsonl."
              .formatted(methods.trajectories().size(), methods.rows().size()));
    }
    if (problems.isEmpty()) return;
    writer.write("<details class=\"note\"><summary>");
    writer.write(problems.size() + " " + Counted.noun(problems.size(), "input"));
    writer.write(" could not be used</summary><ul>\n");
    for (String problem : problems) writer.write("<li>" + Html.escape(problem) + "</li>\n");
    writer.write("</ul></details>\n");
  }

  private static void note(Writer writer, String id, String text) throws IOException {
    writer.write("<p class=\"note\" id=\"" + id + "\">" + Html.escape(text) + "</p>\n");
  }

  private void plainTable(Writer writer) throws IOException {
    List<RunVerdicts.Entry> some =
        data.shown().subList(0, Math.min(MOST_PLAIN, data.shown().size()));
    for (RunVerdicts.Entry entry : some) {
      Verdict verdict = data.verdicts().whole(entry);
      String maker = entry.row().method() == null ? "" : " " + entry.row().method();
      writer.write("<tr><th scope=\"row\">" + Html.escape(entry.row().name() + maker));
      writer.write("</th><td>" + Html.escape(verdict.provenance().source()));
      writer.write("</td><td>" + verdict.judgement().status().label());
      writer.write("</td><td>" + verdict.judgement().stage().label());
      writer.write("</td><td>" + Html.escape(verdict.judgement().message()) + "</td></tr>\n");
    }
    if (some.size() < data.shown().size()) {
      writer.write("<tr><td colspan=\"5\">The first %,d.</td></tr>\n".formatted(some.size()));
    }
  }

  /** The scripts of a run's page. */
  private static final class PageScript {
    private static final List<String> FILES =
        List.of(
            "elements.js",
            "page.js",
            "table.js",
            "details.js",
            "timings.js",
            "rounds.js",
            "charts.js",
            "start.js");

    private PageScript() {}

    /** Our own, as one script. */
    static String text() {
      return FILES.stream()
          .map(file -> Html.resource(file))
          .collect(Collectors.joining("\n", "(() => {\n\"use strict\";\n", "})();\n"));
    }

    /** The chart library's hash for the content security policy. */
    static String chartsHash() {
      return Html.Template.hash(library());
    }

    /** The chart library, packed: our script unpacks and runs it when a chart comes into view. */
    static void writeCharts(Writer writer) throws IOException {
      writer.write(
          "<script type=\"text/plain\" id=\"charts\">"
              + PageData.Packed.of(library())
              + "</script>\n");
    }

    /** Apache ECharts; its licence is beside it. */
    private static String library() {
      return Html.resource("echarts.simple.min.js");
    }
  }

  /** The head of a run's page as markup: what it is about, and what was measured with what. */
  record Head(
      RunInfo run,
      Tally tally,
      List<VerdictRow> rows,
      ResultFiles.@Nullable MethodsReport methods,
      int makers,
      @Nullable String best) {
    /** The heading. */
    String headline() {
      if (makers > 1 && best != null) return Html.escape(best);
      if (methods != null) return methodsHeadline(TrajectoryRates.of(methods.rows()));
      if (run.ofFiles()) return filesHeadline();
      if (makers > 1) {
        return "%d methods and models at %s"
            .formatted(makers, Counted.of(tally.asked().total(), "task"));
      }
      Rate correct = tally.tasks("", rows).correct();
      if (correct == null) return RatesSection.counted(rows.size(), run);
      return "%d of %d tasks tried have a correct candidate"
          .formatted(correct.passes(), correct.total());
    }

    private String methodsHeadline(List<TrajectoryRates> rates) {
      if (rates.size() != 1) {
        return "%s at %s"
            .formatted(
                Counted.of(rates.size(), "method"), Counted.of(tally.asked().total(), "task"));
      }
      TrajectoryRates only = rates.getFirst();
      String tasks = Counted.of(only.tasks(), "task");
      return Html.escape(
          only.solved() == null
              ? "%s at %s, not judged".formatted(only.method(), tasks)
              : "%s solves %d of %s".formatted(only.method(), only.solved(), tasks));
    }

    private String filesHeadline() {
      if (rows.size() == 1 && !(Notes.uncompared(run) && rows.getFirst().correct())) {
        VerdictRow only = rows.getFirst();
        return Html.escape(only.path() + ": " + only.status().label());
      }
      return Notes.correct(run, rows);
    }

    private String coverage() {
      return "%s for %d of %s"
          .formatted(
              Counted.of(tally.counted(rows).size(), "candidate"),
              tally.submitted(rows),
              Counted.of(tally.asked().total(), "task"));
    }

    void facts(Writer writer) throws IOException {
      var device = run.device();
      Html.fact(writer, "Suite", run.suite() + (run.tasks().equals("*") ? "" : ", " + run.tasks()));
      if (run.note() != null) Html.fact(writer, "Note", run.note());
      if (!run.ofFiles()) Html.fact(writer, "Coverage", coverage());
      Html.fact(
          writer, "Device", device.name() + (device.arch() == null ? "" : " · " + device.arch()));
      if (device.driver() != null) Html.fact(writer, "Driver", device.driver());
      if (device.uuid() != null) Html.fact(writer, "UUID", device.uuid());
      Html.fact(writer, "Started", Cell.time(run.started()).text());
      Html.fact(writer, "Took", run.finished() == null ? "not finished" : took(run.finished()));
      Html.fact(
          writer,
          "Stages",
          run.stages().stream().map(Stage::label).collect(Collectors.joining(" → ")));
      Html.fact(writer, "Grade", run.grade());
      if (!run.precision().equals("fp32")) Html.fact(writer, "Precision", run.precision());
      if (run.policy() != null) Html.fact(writer, "Policy", run.policy());
      Html.fact(
          writer,
          "Versions",
          new TreeMap<>(run.versions())
              .entrySet().stream()
                  .map(e -> e.getKey() + " " + e.getValue())
                  .collect(Collectors.joining(" · ")));
      Html.fact(writer, "Sources", String.join("  ", run.sources()));
    }

    private String took(Instant end) {
      return Cell.seconds(Duration.between(run.started(), end).toMillis() / 1_000.0).text();
    }
  }
}
