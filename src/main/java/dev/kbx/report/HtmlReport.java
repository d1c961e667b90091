package dev.kbx.report;

import dev.kbx.analysis.SetSpeedup;
import dev.kbx.analysis.Tally;
import dev.kbx.analysis.TrajectoryRates;
import dev.kbx.analysis.VerdictRow;
import dev.kbx.stats.Rate;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict;
import java.io.IOException;
import java.io.Writer;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.StreamWriteFeature;
import tools.jackson.databind.ObjectWriter;

/**
 * {@code report.html}: the template of the resources with its {@code {{holes}}} filled.
 *
 * <p>Header, tallies and a plain table of verdicts are markup made here, so they need no script.
 * The sortable table and the details are built by {@code report.js} from JSON in the page, on
 * demand. Text of candidates is escaped here and set as text there. A content security policy
 * allows only our script and style, by hash, so that missed markup does nothing.
 *
 * @param rows of all verdicts
 * @param shown verdicts in the table
 * @param sources sources of shown verdicts, by candidate hash: samples with equal sources share one
 * @param sourcesFile the file beside the page with all sources
 * @param problems what could not be read
 * @param methods what wrote the candidates; null if that is not known
 */
record HtmlReport(
    RunInfo run,
    Tally tally,
    List<VerdictRow> rows,
    List<Verdict> shown,
    Map<String, String> sources,
    String sourcesFile,
    List<String> problems,
    @Nullable MethodsReport methods) {
  private static final String SCRIPT = Html.resource("report.js");

  /** Maximum characters of one source in the page, for a responsive browser. */
  private static final int LONGEST_SOURCE = 100_000;

  /** Maximum characters of a message beside the verdict; the details have the full message. */
  private static final int LONGEST_MESSAGE = 400;

  /**
   * Maximum rows of a page that a browser sorts and searches without delay; with sources about 40
   * MB.
   */
  private static final int MOST_ROWS = 5_000;

  private static final ObjectWriter JSON =
      Json.mapper()
          .writer()
          .with(new ScriptEscapes())
          .without(StreamWriteFeature.AUTO_CLOSE_TARGET);

  /** Input of the script. */
  record Page(
      List<Verdict> verdicts,
      Map<String, String> sources,
      boolean timed,
      List<Trajectory> trajectories) {}

  static HtmlReport of(
      RunInfo run,
      Tally tally,
      RunVerdicts verdicts,
      Function<Verdict, String> sourceOf,
      String sourcesFile,
      List<String> problems,
      @Nullable MethodsReport methods) {
    List<Verdict> shown = verdicts.whole(shown(verdicts.entries()));
    return new HtmlReport(
        run,
        tally,
        verdicts.rows(),
        shown,
        sources(shown, sourceOf),
        sourcesFile,
        problems,
        methods);
  }

  private static Map<String, String> sources(
      List<Verdict> shown, Function<Verdict, String> sourceOf) {
    var sources = new TreeMap<String, String>();
    for (Verdict verdict : shown) {
      sources.computeIfAbsent(verdict.candidate(), _ -> sourceOf.apply(verdict));
    }
    return sources;
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
    Template.fill("report.html", writer, this::fill);
  }

  private void fill(Writer writer, String hole) throws IOException {
    switch (hole) {
      case "script" -> writer.write(SCRIPT);
      case "script-hash" -> writer.write(Template.hash(SCRIPT));
      case "run" -> writer.write(Html.escape(run.id()));
      case "headline" -> writer.write(headline());
      case "facts" -> facts(writer);
      case "notes" -> notes(writer);
      case "overview" -> Template.fill(overview(), writer, this::fill);
      case "values" ->
          writer.write(tally.refusesRightValues(rows) ? "<th scope=\"col\">Right values</th>" : "");
      case "general" -> writer.write(tally.general() ? "<th scope=\"col\">General</th>" : "");
      case "general-legend" ->
          writer.write(
              tally.general() ? " General: correct in all that the operation accepts." : "");
      case "properties" -> PropertyTables.write(writer, rows);
      case "outcome" -> outcome(writer, rows.getFirst());
      case "sources-file" -> writer.write(sourcesFile);
      case "tiles" -> tiles(writer);
      case "statuses" -> statuses(writer);
      case "categories" -> categories(writer);
      case "verdicts" -> plainTable(writer);
      case "data" -> JSON.writeValue(writer, page());
      case "methods" ->
          new MethodsSection(methods == null ? List.of() : methods.rows()).write(writer);
      case "method-statuses" -> SeriesTables.of(tally, rows).statuses(writer);
      case "method-categories" -> SeriesTables.of(tally, rows).categories(writer);
      default ->
          throw new IllegalStateException("the template has an unknown placeholder: " + hole);
    }
  }

  private Page page() {
    List<Trajectory> trajectories = methods == null ? List.of() : methods.trajectories();
    return new Page(shown, shortened(), tally.perf(), trajectories);
  }

  private String headline() {
    if (methods != null) return methodsHeadline(TrajectoryRates.of(methods.rows()));
    if (run.ofFiles()) return filesHeadline();
    Rate correct = tally.tasks("", rows).correct();
    if (correct == null) return Counted.of(rows.size(), "candidate") + " judged";
    return "%d of %d tasks have a correct candidate".formatted(correct.passes(), correct.total());
  }

  private String methodsHeadline(List<TrajectoryRates> rates) {
    if (rates.size() != 1) {
      return "%s at %s"
          .formatted(Counted.of(rates.size(), "method"), Counted.of(tally.asked().total(), "task"));
    }
    TrajectoryRates only = rates.getFirst();
    String tasks = Counted.of(only.tasks(), "task");
    return Html.escape(
        only.solved() == null
            ? "%s at %s, not judged".formatted(only.method(), tasks)
            : "%s solves %d of %s".formatted(only.method(), only.solved(), tasks));
  }

  private String filesHeadline() {
    if (rows.size() == 1) {
      VerdictRow only = rows.getFirst();
      return Html.escape(only.path() + ": " + only.status().label());
    }
    return Notes.correct(rows);
  }

  private String coverage() {
    return "%s for %d of %s"
        .formatted(
            Counted.of(tally.counted(rows).size(), "candidate"),
            tally.submitted(rows),
            Counted.of(tally.asked().total(), "task"));
  }

  /** Rates if a suite is judged; for single files the table suffices. */
  private String overview() {
    if (methods != null) return "report-methods.html";
    if (!run.ofFiles()) return "report-suite.html";
    return rows.size() == 1 ? "report-file.html" : "report-files.html";
  }

  /** The outcome of a single candidate. */
  private void outcome(Writer writer, VerdictRow row) throws IOException {
    Verdict verdict = shown.getFirst();
    writer.write("<div class=\"tile\"><h3>Verdict</h3><p class=\"figure\">");
    writer.write(row.status().label() + "</p><p class=\"message\">");
    writer.write(
        row.status() == Status.CORRECT
            ? "passed %s".formatted(stages())
            : "decided by the stage %s".formatted(verdict.stage().label()));
    String message = Text.cut(Text.clean(verdict.message()), LONGEST_MESSAGE);
    if (!message.isEmpty()) writer.write("<br>" + Html.escape(message));
    writer.write("</p></div>\n<div class=\"tile\"><h3>Speedup</h3>");
    Verdict.Speedup speedup = row.speedup();
    writer.write(
        speedup == null
            ? "<p class=\"figure unknown\">not measured</p></div>\n"
            : "<p class=\"figure\">%s</p><p>95 %% interval %.2f–%.2f×<br>against %s</p></div>\n"
                .formatted(
                    Text.ratio(speedup.value()),
                    speedup.low(),
                    speedup.high(),
                    Html.escape(speedup.baseline())));
  }

  private String stages() {
    return run.stages().stream()
        .filter(stage -> stage != Stage.PERF || tally.perf())
        .map(Stage::label)
        .collect(Collectors.joining(" → "));
  }

  private void facts(Writer writer) throws IOException {
    var device = run.device();
    fact(writer, "Suite", run.suite() + (run.tasks().equals("*") ? "" : ", " + run.tasks()));
    if (!run.ofFiles()) fact(writer, "Coverage", coverage());
    fact(writer, "Device", device.name() + (device.arch() == null ? "" : " · " + device.arch()));
    if (device.driver() != null) fact(writer, "Driver", device.driver());
    if (device.uuid() != null) fact(writer, "UUID", device.uuid());
    fact(writer, "Started", time(run.started()));
    fact(writer, "Took", run.finished() == null ? "not finished" : took(run.finished()));
    fact(
        writer,
        "Stages",
        run.stages().stream().map(s -> s.label()).collect(Collectors.joining(" → ")));
    fact(writer, "Grade", run.grade());
    if (!run.precision().equals("fp32")) fact(writer, "Precision", run.precision());
    if (run.policy() != null) fact(writer, "Policy", run.policy());
    fact(
        writer,
        "Versions",
        new TreeMap<>(run.versions())
            .entrySet().stream()
                .map(e -> e.getKey() + " " + e.getValue())
                .collect(Collectors.joining(" · ")));
    fact(writer, "Sources", String.join("  ", run.sources()));
  }

  private static void fact(Writer writer, String name, String value) throws IOException {
    writer.write("<div><dt>" + name + "</dt><dd>" + Html.escape(value) + "</dd></div>\n");
  }

  private static String time(Instant instant) {
    return DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm 'UTC'", Locale.ROOT)
        .format(instant.atOffset(ZoneOffset.UTC));
  }

  private String took(Instant end) {
    Duration took = Duration.between(run.started(), end);
    if (took.toMinutes() == 0) {
      return String.format(Locale.ROOT, "%.1f s", took.toMillis() / 1_000.0);
    }
    return took.toHours() == 0
        ? took.toMinutes() + " min " + took.toSecondsPart() + " s"
        : took.toHours() + " h " + took.toMinutesPart() + " min";
  }

  private void notes(Writer writer) throws IOException {
    for (Notes.Note note : Notes.of(run, rows, tally)) {
      writer.write("<p class=\"note\" id=\"" + note.id() + "\">");
      writer.write(Html.escape(note.text()) + "</p>\n");
    }
    if (shown.size() < rows.size()) {
      writer.write(
          """
          <p class="note" id="cut">The table has %,d of %,d candidates, the first samples of every \
          task. All are in results.jsonl, their sources in %s.</p>
          """
              .formatted(shown.size(), rows.size(), sourcesFile));
    }
    if (methods != null && methods.trajectories().size() < methods.rows().size()) {
      writer.write(
          """
          <p class="note" id="cut-trajectories">The details have the prompts and replies of %,d of %,d \
          candidates. All are in ledger.jsonl.</p>
          """
              .formatted(methods.trajectories().size(), methods.rows().size()));
    }
    if (problems.isEmpty()) return;
    writer.write("<details class=\"note\"><summary>");
    writer.write(problems.size() + " " + Counted.noun(problems.size(), "input"));
    writer.write(" could not be used</summary><ul>\n");
    for (String problem : problems) writer.write("<li>" + Html.escape(problem) + "</li>\n");
    writer.write("</ul></details>\n");
  }

  private void tiles(Writer writer) throws IOException {
    Tally.Passes all = tally.candidates("all", rows);
    Tally.Passes tasks = tally.tasks("tasks", rows);
    tile(writer, "Called", tasks.call(), all.call());
    tile(writer, "Correct", tasks.correct(), all.correct());
    if (tally.general()) tile(writer, "Correct, general grade", tasks.general(), all.general());
    tile(writer, "Timed", tasks.perf(), all.perf());
    SetSpeedup speedup = SetSpeedup.of(tally.counted(rows));
    if (speedup != null) speedupTile(writer, speedup, run.baseline());
    if (all.notJudged() > 0) {
      writer.write("<div class=\"tile\"><h3>Not judged</h3><p class=\"figure\">");
      writer.write(all.notJudged() + "</p><p>task or kbx at fault; not in the rates</p></div>\n");
    }
  }

  /** The rate over all requested tasks, and below it the rate over judged candidates. */
  private static void tile(
      Writer writer, String name, @Nullable Rate tasks, @Nullable Rate candidates)
      throws IOException {
    writer.write("<div class=\"tile\"><h3>" + name + "</h3>");
    if (tasks == null) {
      writer.write("<p class=\"figure unknown\">not measured</p></div>\n");
      return;
    }
    writer.write("<p class=\"figure\">" + Bar.percent(tasks.value()) + "</p>" + Bar.of(tasks));
    writer.write(
        "<p>%d of %s asked for<br>95 %% interval %s</p>"
            .formatted(
                tasks.passes(),
                Counted.of(tasks.total(), "task"),
                Bar.interval(tasks.low(), tasks.high())));
    writer.write(
        candidates == null
            ? "<p>no candidate judged</p></div>\n"
            : "<p>%d of %s judged, %s</p></div>\n"
                .formatted(
                    candidates.passes(),
                    Counted.of(candidates.total(), "candidate"),
                    Bar.percent(candidates.value())));
  }

  private static void speedupTile(Writer writer, SetSpeedup speedup, String baseline)
      throws IOException {
    writer.write("<div class=\"tile\"><h3>Speedup, geometric mean</h3><p class=\"figure\">");
    writer.write(String.format(Locale.ROOT, "%.2f×</p><p>", speedup.geometricMean()));
    if (speedup.low() != null && speedup.high() != null) {
      writer.write(
          String.format(
              Locale.ROOT, "95 %% interval %.2f–%.2f×<br>", speedup.low(), speedup.high()));
    }
    writer.write(
        String.format(
            Locale.ROOT,
            "over %s, %s<br>against %s<br>median %.2f× · %d of %s slower than 1×</p></div>\n",
            Counted.of(speedup.tasks(), "task"),
            Counted.of(speedup.candidates(), "candidate"),
            Html.escape(baseline),
            speedup.median(),
            speedup.slower(),
            Counted.of(speedup.tasks(), "task")));
  }

  private void statuses(Writer writer) throws IOException {
    Map<Status, Integer> counts = Tally.byStatus(rows);
    int most = counts.values().stream().mapToInt(c -> c).max().orElse(1);
    for (var entry : counts.entrySet()) {
      Status status = entry.getKey();
      writer.write(
          """
          <li data-status="%1$s"><span class="name"><span class="status %2$s">%1$s</span></span>\
          <svg class="bar %2$s" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">\
          <rect class="fill" width="%3$s" height="8"/></svg><span class="count">%4$d</span></li>
          """
              .formatted(
                  status.label(),
                  tone(status),
                  Bar.decimal(100.0 * entry.getValue() / most),
                  entry.getValue()));
    }
  }

  private void categories(Writer writer) throws IOException {
    boolean values = tally.refusesRightValues(rows);
    for (Tally.Passes passes : tally.byCategory(rows)) category(writer, passes, values, "<tr>");
    category(writer, tally.candidates("All", rows), values, "<tr class=\"total\">");
    category(writer, tally.tasks("Tasks asked for", rows), values, "<tr class=\"tasks\">");
  }

  /**
   * Writes one row.
   *
   * @param values whether right values and correct are two columns
   */
  private void category(Writer writer, Tally.Passes passes, boolean values, String row)
      throws IOException {
    writer.write(row + "<th scope=\"row\">" + Html.escape(passes.name()) + "</th>");
    writer.write("<td class=\"number\">" + passes.candidates() + "</td>");
    String unknown = Notes.unknown(passes);
    rate(writer, "called", passes.call(), unknown);
    if (values) rate(writer, "right values", passes.values(), unknown);
    rate(writer, "correct", passes.correct(), unknown);
    if (tally.general()) rate(writer, "general", passes.general(), Notes.unknownGeneral(passes));
    rate(writer, "timed", passes.perf(), unknown);
    writer.write("</tr>\n");
  }

  private static void rate(Writer writer, String name, @Nullable Rate rate, String unknown)
      throws IOException {
    writer.write("<td data-name=\"" + name + "\">");
    if (rate == null) {
      writer.write("<span class=\"unknown\">" + unknown + "</span></td>");
      return;
    }
    writer.write("<span class=\"rate\"><b>" + rate.passes() + "/" + rate.total() + "</b>");
    writer.write(Bar.of(rate) + "<span>" + Bar.percent(rate.value()) + "</span>");
    writer.write("<small>" + Bar.interval(rate.low(), rate.high()) + "</small></span></td>");
  }

  static String tone(Status status) {
    return switch (status.blame()) {
      case NOBODY -> "good";
      case CANDIDATE -> "bad";
      case TASK, KBX -> "odd";
    };
  }

  private void plainTable(Writer writer) throws IOException {
    for (Verdict verdict : shown) {
      writer.write("<tr><th scope=\"row\">" + Html.escape(VerdictRow.of(verdict).name()));
      writer.write("</th><td>" + Html.escape(verdict.source()));
      writer.write("</td><td>" + verdict.status().label());
      writer.write("</td><td>" + verdict.stage().label());
      writer.write("</td><td>" + Html.escape(verdict.message()) + "</td></tr>\n");
    }
  }

  private Map<String, String> shortened() {
    var shortened = new TreeMap<String, String>();
    sources.forEach((hash, source) ->
        shortened.put(
            hash,
            source.length() <= LONGEST_SOURCE
                ? source
                : source.substring(0, LONGEST_SOURCE)
                    + "\n… %,d more characters are not shown"
                        .formatted(source.length() - LONGEST_SOURCE)));
    return shortened;
  }
}
