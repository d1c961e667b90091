package dev.kbx.report;

import dev.kbx.analysis.Comparison;
import dev.kbx.analysis.Comparison.Row;
import dev.kbx.analysis.MatchedSpeed;
import dev.kbx.analysis.SpeedChange;
import dev.kbx.analysis.TaskOutcomes;
import dev.kbx.analysis.Transition;
import dev.kbx.document.Counted;
import dev.kbx.files.AtomicFile;
import dev.kbx.files.UnwritableException;
import dev.kbx.stats.Rate;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Status;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Two runs on one page: what became right or wrong, faster or slower, and what changed in the
 * sources. It needs no script.
 *
 * @param sources of the candidates that {@link #wanted} names, by hash
 */
public record ComparisonPage(Comparison comparison, Map<String, String> sources) {
  /** Changed candidates whose sources are compared. */
  private static final int MOST_DIFFS = 300;

  /** Candidates by what became of them, in the order of the page. */
  private enum Kind {
    REGRESSED("Regressed"),
    RESCUED("Rescued"),
    SLOWER("Slower"),
    FASTER("Faster"),
    CHANGED("Correct in neither, with another status"),
    OTHER("Unchanged, or not comparable");

    private final String title;

    Kind(String title) {
      this.title = title;
    }

    static Kind of(Row row) {
      if (row.transition() == Transition.REGRESSED) return REGRESSED;
      if (row.transition() == Transition.RESCUED) return RESCUED;
      if (row.then().status() != row.now().status()) return CHANGED;
      SpeedChange speed = row.speed();
      if (speed == null) return OTHER;
      return switch (speed.outcome()) {
        case SLOWER -> SLOWER;
        case FASTER -> FASTER;
        case SAME, OTHER_DEVICE, OTHER_BASELINE, OTHER_SIZES, AS_PUBLISHED -> OTHER;
      };
    }
  }

  /** Hashes of the candidates whose sources the page shows. */
  public static Set<String> wanted(Comparison comparison) {
    Set<String> wanted = new TreeSet<>();
    for (Row row : comparison.candidates()) {
      if (!hasDiff(row)) continue;
      if (wanted.size() >= 2 * MOST_DIFFS) break;
      wanted.add(row.then().candidate());
      wanted.add(row.now().candidate());
    }
    return wanted;
  }

  /** Writes the page; throws {@link UnwritableException}. */
  public void write(Path file) {
    AtomicFile.replace(file, writer -> Template.fill("comparison.html", writer, this::fill));
  }

  /** Writes its content, without title, for a page with the same style. */
  public void content(Writer writer) throws IOException {
    writer.write("<dl class=\"facts\">\n");
    facts(writer);
    writer.write("</dl>\n");
    notes(writer);
    Template.fill("comparison-main.html", writer, this::fill);
  }

  /** What became right and wrong, in a line. */
  public String headline() {
    return headline(comparison.tasks());
  }

  private void fill(Writer writer, String hole) throws IOException {
    switch (hole) {
      case "main" -> Template.fill("comparison-main.html", writer, this::fill);
      case "runs" ->
          writer.write(Html.escape(comparison.then().id() + " → " + comparison.now().id()));
      case "headline" -> writer.write(headline(comparison.tasks()));
      case "facts" -> facts(writer);
      case "notes" -> notes(writer);
      case "tiles" -> tiles(writer);
      case "categories" -> categories(writer);
      case "candidates" -> candidates(writer);
      default -> throw new IllegalStateException("unknown placeholder: " + hole);
    }
  }

  private static String headline(TaskOutcomes tasks) {
    return "%d rescued, %d regressed of %s"
        .formatted(tasks.rescued(), tasks.regressed(), Counted.of(tasks.compared(), "task"));
  }

  // ---------------------------------------------------------------- head

  private void facts(Writer writer) throws IOException {
    run(writer, "Then", comparison.then(), comparison.judgedThen());
    run(writer, "Now", comparison.now(), comparison.judgedNow());
    for (var entry : comparison.changed().entrySet()) {
      Comparison.Changed changed = entry.getValue();
      fact(
          writer,
          entry.getKey() + " changed",
          orNone(changed.then()) + " → " + orNone(changed.now()));
    }
  }

  private static String orNone(@Nullable String value) {
    return value == null ? "none" : value;
  }

  private static void run(Writer writer, String name, RunInfo run, int judged) throws IOException {
    String what =
        "%s · %s · %s".formatted(run.id(), Counted.of(judged, "candidate"), run.device().name());
    fact(writer, name, what);
  }

  private static void fact(Writer writer, String name, String value) throws IOException {
    writer.write(
        "<div><dt>%s</dt><dd>%s</dd></div>\n".formatted(Html.escape(name), Html.escape(value)));
  }

  private void notes(Writer writer) throws IOException {
    for (RunInfo run : List.of(comparison.then(), comparison.now())) {
      String published = Notes.asPublished(run);
      if (published != null) note(writer, "Run %s: %s".formatted(run.id(), published));
    }
    for (var entry : comparison.untimed().entrySet()) {
      note(writer, "Run %s: %s.".formatted(entry.getKey(), entry.getValue()));
    }
    long left = leftOut();
    if (left > 0) {
      note(
          writer,
          "The page has no changes of the source for %,d more changed candidates; its limit is %,d."
              .formatted(left, MOST_DIFFS));
    }
    int without = comparison.onlyThen() + comparison.onlyNow();
    if (without > 0) {
      note(
          writer,
          "Without a partner in the other run: %d of the first, %d of the second."
              .formatted(comparison.onlyThen(), comparison.onlyNow()));
    }
  }

  private static void note(Writer writer, String text) throws IOException {
    writer.write("<p class=\"note\">" + Html.escape(text) + "</p>\n");
  }

  /** Number of candidates whose sources differ and are not compared, as they are too many. */
  private long leftOut() {
    Set<String> wanted = wanted(comparison);
    return comparison.candidates().stream()
        .filter(ComparisonPage::hasDiff)
        .filter(row ->
            !wanted.contains(row.then().candidate()) || !wanted.contains(row.now().candidate()))
        .count();
  }

  /** Whether the page says what its source changed, if there is room. */
  private static boolean hasDiff(Row row) {
    return Kind.of(row) != Kind.OTHER
        && !row.sameSource()
        && !row.then().candidate().isEmpty()
        && !row.now().candidate().isEmpty();
  }

  // ---------------------------------------------------------------- figures

  private void tiles(Writer writer) throws IOException {
    TaskOutcomes tasks = comparison.tasks();
    tile(writer, "Rescued", tasks.rescued(), "tasks wrong before, right now");
    tile(writer, "Regressed", tasks.regressed(), "tasks right before, wrong now");
    tile(writer, "Persistent", tasks.persistent(), "tasks right in both");
    tile(writer, "Unresolved", tasks.unresolved(), "tasks wrong in both");
    if (tasks.rescued() + tasks.regressed() > 0) {
      writer.write(
          "<div class=\"tile\"><h2>McNemar’s exact test</h2><p class=\"figure\">p = %.3f</p><p>whether rescued and regressed differ by more than chance</p></div>\n"
              .formatted(tasks.mcnemar().pValue()));
    }
    MatchedSpeed speed = comparison.speed();
    if (speed == null) return;
    writer.write(
        "<div class=\"tile\"><h2>Speed, now ÷ then</h2><p class=\"figure\">%s</p><p>%sgeometric mean over tasks; of %s %d faster, %d slower</p></div>\n"
            .formatted(
                RateText.ratio(speed.change().value()),
                speed.change().low() == null || speed.change().high() == null
                    ? ""
                    : "95 %% interval %.2f–%.2f×<br>"
                        .formatted(speed.change().low(), speed.change().high()),
                Counted.of(speed.matched(), "candidate"),
                speed.faster(),
                speed.slower()));
  }

  private static void tile(Writer writer, String name, int count, String what) throws IOException {
    writer.write(
        "<div class=\"tile\"><h2>%s</h2><p class=\"figure\">%d</p><p>%s</p></div>\n"
            .formatted(name, count, what));
  }

  /** A row of the table of categories. */
  private record Rates(String start, String name, List<Row> rows) {}

  private void categories(Writer writer) throws IOException {
    List<Rates> rates = new ArrayList<>();
    Map<String, List<Row>> categories = new TreeMap<>();
    for (Row row : comparison.candidates()) {
      if (row.transition() == null) continue;
      categories.computeIfAbsent(row.category(), _ -> new ArrayList<>()).add(row);
    }
    categories.forEach((name, rows) -> rates.add(new Rates("<tr>", name, rows)));
    List<Row> all = categories.values().stream().flatMap(List::stream).toList();
    if (!all.isEmpty()) rates.add(new Rates("<tr class=\"total\">", "All", all));
    for (Rates each : rates) {
      writer.write(each.start() + "<th scope=\"row\">" + Html.escape(each.name()) + "</th>");
      share(writer, each.rows(), Transition.REGRESSED);
      share(writer, each.rows(), Transition.RESCUED);
      writer.write("</tr>\n");
    }
  }

  /** The correct ones of one run: those of both, and {@code more}. */
  private static void share(Writer writer, List<Row> rows, Transition more) throws IOException {
    long correct =
        rows.stream()
            .filter(row -> row.transition() == Transition.PERSISTENT || row.transition() == more)
            .count();
    Rate rate = new Rate(correct, rows.size());
    writer.write(
        "<td class=\"%s\"><span>%s<small>%d/%d</small></span></td>"
            .formatted(
                HeatMap.shade(rate.value()), Bar.percent(rate.value()), correct, rows.size()));
  }

  // ---------------------------------------------------------------- candidates

  private void candidates(Writer writer) throws IOException {
    Map<Kind, List<Row>> kinds = new EnumMap<>(Kind.class);
    for (Row row : comparison.candidates()) {
      kinds.computeIfAbsent(Kind.of(row), _ -> new ArrayList<>()).add(row);
    }
    for (var entry : kinds.entrySet()) {
      writer.write(
          "<section id=\"%s\"><h2>%s: %s</h2>\n"
              .formatted(
                  entry.getKey().name().toLowerCase(Locale.ROOT),
                  entry.getKey().title,
                  Counted.of(entry.getValue().size(), "candidate")));
      writer.write(
          "<table class=\"compared\">\n"
              + "<thead><tr><th scope=\"col\">Task</th><th scope=\"col\">Then</th><th"
              + " scope=\"col\">Now</th><th scope=\"col\">Now ÷ then</th></tr></thead>\n"
              + "<tbody>\n");
      for (Row row : entry.getValue()) row(writer, row);
      writer.write("</tbody>\n</table>\n</section>\n");
    }
  }

  private void row(Writer writer, Row row) throws IOException {
    String sample = row.sample() == 0 ? "" : "#" + row.sample();
    writer.write(
        "<tr><th scope=\"row\">"
            + Html.escape(row.category() + "/" + row.task() + sample)
            + "</th>");
    side(writer, row.then());
    side(writer, row.now());
    SpeedChange speed = row.speed();
    writer.write(
        speed == null || speed.value() == null || speed.low() == null || speed.high() == null
            ? "<td></td></tr>\n"
            : "<td>" + RateText.ratio(speed.value(), speed.low(), speed.high()) + "</td></tr>\n");
    diff(writer, row);
  }

  private static void side(Writer writer, Comparison.Side side) throws IOException {
    writer.write("<td>" + Failures.badge(side.status()));
    if (side.speedup() != null && side.status() == Status.CORRECT) {
      writer.write(" " + RateText.ratio(side.speedup().value()));
    }
    if (side.method() != null) writer.write("<small>" + Html.escape(side.method()) + "</small>");
    writer.write("</td>");
  }

  private void diff(Writer writer, Row row) throws IOException {
    String then = sources.get(row.then().candidate());
    String now = sources.get(row.now().candidate());
    if (row.sameSource() || then == null || now == null) return;
    writer.write(
        "<tr class=\"changes\"><td colspan=\"4\"><details><summary>Changes of the"
            + " source</summary><pre class=\"output diff\" tabindex=\"0\" role=\"group\""
            + " aria-label=\"Changes\">");
    for (String line : new LineDiff(then, now).hunks().lines().toList()) {
      writer.write("<span class=\"" + kind(line) + "\">" + Html.escape(line) + "\n</span>");
    }
    writer.write("</pre></details></td></tr>\n");
  }

  private static String kind(String line) {
    return switch (line.isEmpty() ? ' ' : line.charAt(0)) {
      case '+' -> "added";
      case '-' -> "removed";
      case '@' -> "hunk";
      default -> "same";
    };
  }
}
