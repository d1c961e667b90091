package dev.kbx.report;

import static java.util.stream.Collectors.joining;

import dev.kbx.analysis.AskedTasks;
import dev.kbx.analysis.Tally;
import dev.kbx.analysis.VerdictRow;
import dev.kbx.document.Grid;
import dev.kbx.document.Text;
import dev.kbx.stats.Rate;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The table at the end of a run: candidates, tallies by category, and what was not measured. No
 * line is wider than the terminal.
 *
 * @param width columns of the terminal; at least {@value #NARROWEST} are assumed
 * @param colour whether to write ANSI colours
 */
public record Table(int width, boolean colour) {
  private static final int NARROWEST = 60;

  private static final String INDENT = "    ";

  /** Maximum lines of a reason under its row. */
  private static final int REASON_LINES = 3;

  /** The same for named files. */
  private static final int FILE_REASON_LINES = 12;

  /** If there are more rows, each has one line, so that they fit a screen. */
  private static final int MANY_ROWS = 12;

  private static final int NOTE_LINES = 3;

  /** If there are more candidates, only some failing ones are listed, or else the first. */
  private static final int ALL = 60;

  /** Number of listed candidates of each failing status. */
  private static final int PER_STATUS = 4;

  /** Number of listed candidates if none fails. */
  private static final int FIRST = 12;

  /** The column of results that are right, whoever computed them. */
  private static final String VALUES = "right values";

  /** Methods beside each other in 80 columns; more go into further tables. */
  private static final int METHODS = 4;

  /** Columns of a method's name there. */
  private static final int METHOD = 18;

  /** The column of those that are correct at the general grade. */
  private static final String GENERAL = "general";

  private static final int STATUS = 16;
  private static final int STAGE = 7;
  private static final int SECONDS = 7;
  private static final int SPEEDUP = 8;

  public Table {
    width = Math.max(width, NARROWEST);
  }

  /**
   * The table, ending in a line break.
   *
   * @param asked the requested tasks, the denominator of rates
   * @param rest the complete list, named if this table is incomplete: the report's path
   */
  public String render(RunInfo run, RunVerdicts verdicts, AskedTasks asked, String rest) {
    List<VerdictRow> rows = verdicts.rows();
    var tally = Tally.of(run, rows, asked);
    var lines = new ArrayList<String>();
    candidates(lines, verdicts, tally, run.ofFiles(), rest);
    lines.add("");
    if (run.ofFiles()) {
      if (rows.size() != 1) lines.addAll(statuses(rows));
      if (!rows.isEmpty()) lines.add(Notes.correct(run, rows) + ".");
    } else {
      boolean intervals = false;
      if (SeriesColumns.of(rows).size() > 1) lines.addAll(methods(rows, tally));
      else intervals = categories(lines, rows, tally);
      lines.add("");
      lines.addAll(statuses(rows));
      lines.add(coverage(run, rows, tally, intervals));
    }
    notes(lines, run, rows, tally);
    return String.join("\n", lines) + "\n";
  }

  /**
   * @param files whether named files were judged, of which more is shown
   */
  private void candidates(
      List<String> lines, RunVerdicts verdicts, Tally tally, boolean files, String rest) {
    List<RunVerdicts.Entry> all = verdicts.entries();
    List<Verdict> listed = verdicts.whole(all.size() <= ALL ? all : worthListing(all));
    if (listed.size() > MANY_ROWS) {
      lines.addAll(new ManyRows(listed, width).lines(this::paint));
      more(lines, verdicts.size() - listed.size(), rest);
      return;
    }
    var columns = Columns.of(listed, tally, width);
    if (!listed.isEmpty()) lines.add(paint(Ansi.DIM, row(columns, header(tally), Ansi.PLAIN)));
    int reasonLines = files ? FILE_REASON_LINES : REASON_LINES;
    for (Verdict verdict : listed) {
      lines.addAll(candidate(verdict, columns, reasonLines));
      if (files && verdict.judgement().speedup() != null)
        lines.add(speedup(verdict.judgement().speedup()));
      if (files && listed.size() == 1) lines.addAll(coverage(verdict));
      for (String kernel : ProfileText.lines(verdict.judgement().profile())) {
        lines.add(paint(Ansi.DIM, Text.cut(INDENT + kernel, width)));
      }
    }
    more(lines, verdicts.size() - listed.size(), rest);
  }

  private void more(List<String> lines, int left, String rest) {
    if (left == 0) return;
    lines.add(paint(Ansi.DIM, Text.cut("… and " + left + " more; all are in " + rest, width)));
  }

  /**
   * Widths of the variable columns. Tasks get their width before sources, whose paths are
   * recognised by their end.
   *
   * @param speedup 0 where nothing was timed
   */
  private record Columns(int task, int source, int speedup) {
    static Columns of(List<Verdict> verdicts, Tally tally, int width) {
      int speedup = tally.perf() ? SPEEDUP : 0;
      int free = width - STATUS - STAGE - SECONDS - 4 - (tally.perf() ? SPEEDUP + 1 : 0);
      int task = longest(verdicts, Table::task);
      int source =
          Math.max("source".length(), longest(verdicts, v -> Text.clean(v.provenance().source())));
      task = Math.min(task, Math.max(free - source, free * 5 / 8));
      return new Columns(task, Math.min(source, free - task), speedup);
    }

    int all() {
      return task + source + STATUS + STAGE + SECONDS + 4 + (speedup > 0 ? speedup + 1 : 0);
    }

    private static int longest(List<Verdict> verdicts, Function<Verdict, String> cell) {
      return verdicts.stream().map(cell).mapToInt(Text::columns).max().orElse(0);
    }
  }

  /** The first few of every failing status, grouped by status; the first of all if none fails. */
  private static List<RunVerdicts.Entry> worthListing(List<RunVerdicts.Entry> all) {
    Map<Status, List<RunVerdicts.Entry>> failing = new EnumMap<>(Status.class);
    for (RunVerdicts.Entry entry : all) {
      Status status = entry.row().status();
      if (status == Status.CORRECT) continue;
      List<RunVerdicts.Entry> some = failing.computeIfAbsent(status, _ -> new ArrayList<>());
      if (some.size() < PER_STATUS) some.add(entry);
    }
    if (failing.isEmpty()) return all.subList(0, FIRST);
    return failing.values().stream().flatMap(List::stream).toList();
  }

  private record Cells(
      String task, String source, String status, String stage, String seconds, String speedup) {}

  private static Cells header(Tally tally) {
    return new Cells("task", "source", "status", "stage", "seconds", tally.perf() ? "speedup" : "");
  }

  private List<String> coverage(Verdict verdict) {
    return CoverageText.lines(verdict, width - INDENT.length()).stream()
        .map(line -> paint(Ansi.DIM, INDENT + line))
        .toList();
  }

  private String speedup(Verdict.Speedup speedup) {
    String ratio = RateText.ratio(speedup.value(), speedup.low(), speedup.high());
    String text = "speedup %s against %s".formatted(ratio, Text.clean(speedup.baseline()));
    return paint(Ansi.DIM, Text.cut(INDENT + text, width));
  }

  private List<String> candidate(Verdict verdict, Columns columns, int reasonLines) {
    String seconds =
        verdict.judgement().seconds().isEmpty()
            ? ""
            : format(
                "%.2f", verdict.judgement().seconds().values().stream().mapToDouble(s -> s).sum());
    var speedup = verdict.judgement().speedup();
    String line =
        row(
            columns,
            new Cells(
                task(verdict),
                Text.clean(verdict.provenance().source()),
                verdict.judgement().status().label(),
                verdict.judgement().stage().label(),
                seconds,
                speedup == null ? "" : format("%.2f×", speedup.value())),
            colourOf(verdict));
    String reason = reason(verdict);
    if (reason.isEmpty()) return List.of(line.stripTrailing());
    if (Text.columns(reason) <= width - columns.all() - 2) {
      return List.of(line + "  " + paint(Ansi.DIM, reason));
    }
    List<String> lines = new ArrayList<>(List.of(line.stripTrailing()));
    for (String part : Text.wrap(reason, width - INDENT.length(), reasonLines)) {
      lines.add(paint(Ansi.DIM, INDENT + part));
    }
    return lines;
  }

  private static String task(Verdict verdict) {
    return Text.clean(VerdictRow.of(verdict).name());
  }

  /** Why it failed, or notes on a correct one, in one line of any length; may be empty. */
  static String reason(Verdict verdict) {
    String what =
        verdict.judgement().rule() != null
            ? verdict.judgement().rule()
            : verdict.judgement().evidence();
    String message = Text.clean(verdict.judgement().message());
    String reason =
        Stream.of(Text.clean(what), message, breaks(verdict))
            .filter(s -> !s.isEmpty())
            .collect(joining(": "));
    List<String> flags = Notes.flags(verdict);
    if (flags.isEmpty()) return reason;
    return (reason + " [" + String.join(", ", flags) + "]").strip();
  }

  /** The properties beyond the published grade on which a correct candidate fails. */
  private static String breaks(Verdict verdict) {
    List<Verdict.Break> breaks = verdict.judgement().breaks();
    if (verdict.judgement().status() != Status.CORRECT || breaks == null || breaks.isEmpty())
      return "";
    return breaks.stream().map(Verdict.Break::property).collect(joining(", ", "breaks on ", ""));
  }

  private String row(Columns columns, Cells cells, Ansi statusColour) {
    String row =
        String.join(
            " ",
            Text.left(Text.cutMiddle(cells.task, columns.task), columns.task),
            Text.left(Text.cutMiddle(cells.source, columns.source), columns.source),
            paint(statusColour, Text.left(cells.status, STATUS)),
            Text.left(cells.stage, STAGE),
            Text.right(cells.seconds, SECONDS));
    return columns.speedup == 0 ? row : row + " " + Text.right(cells.speedup, columns.speedup);
  }

  /**
   * Rates by category; without intervals, and without percent, if the terminal is too narrow.
   *
   * @return whether with intervals
   */
  private boolean categories(List<String> lines, List<VerdictRow> rows, Tally tally) {
    List<Tally.Passes> passes = new ArrayList<>(tally.byCategory(rows));
    passes.add(tally.candidates("all", rows));
    passes.add(tally.tasks("tasks asked for", rows));
    boolean values = tally.hasOtherRightValues(rows);
    List<String> whole =
        grid(passes, tally, values, rate -> RateText.rate(rate) + " " + RateText.interval(rate));
    List<String> rates = grid(passes, tally, values, RateText::rate);
    List<String> table =
        fits(whole)
            ? whole
            : fits(rates)
                ? rates
                : grid(passes, tally, values, rate -> rate.passes() + "/" + rate.total());
    lines.add(paint(Ansi.DIM, Text.cut(table.getFirst(), width)));
    table.stream().skip(1).map(line -> Text.cut(line, width)).forEach(lines::add);
    return fits(whole);
  }

  private boolean fits(List<String> table) {
    return Text.columns(table.getFirst()) <= width;
  }

  /** Rates of correct candidates by category, a column for each method or model. */
  private List<String> methods(List<VerdictRow> rows, Tally tally) {
    List<SeriesColumns> all = SeriesColumns.of(rows);
    List<String> lines = new ArrayList<>();
    for (int from = 0; from < all.size(); from += METHODS) {
      List<SeriesColumns> some = all.subList(from, Math.min(all.size(), from + METHODS));
      List<List<String>> cells = new ArrayList<>();
      List<String> head = new ArrayList<>(List.of("correct"));
      some.forEach(column -> head.add(Text.cutMiddle(Text.clean(column.label()), METHOD)));
      cells.add(head);
      for (String name : SeriesColumns.categories(rows, tally)) {
        cells.add(methods(name, some, column -> column.category(name, tally)));
      }
      cells.add(methods("all", some, column -> tally.candidates("all", column.rows())));
      cells.add(methods("tasks asked for", some, column -> tally.tasks("tasks", column.rows())));
      List<String> table = new Grid("l" + "r".repeat(some.size()), cells).lines(width);
      lines.add(paint(Ansi.DIM, table.getFirst()));
      lines.addAll(table.subList(1, table.size()));
    }
    return lines;
  }

  private static List<String> methods(
      String name, List<SeriesColumns> columns, Function<SeriesColumns, Tally.Passes> passes) {
    List<String> cells = new ArrayList<>(List.of(Text.clean(name)));
    for (SeriesColumns column : columns) {
      Tally.Passes own = passes.apply(column);
      cells.add(own.correct() == null ? "–" : RateText.rate(own.correct()));
    }
    return cells;
  }

  /** The rows with their header, all columns but the first aligned to the right. */
  private static List<String> grid(
      List<Tally.Passes> passes, Tally tally, boolean values, Function<Rate, String> shown) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(
        cells(
            values,
            tally,
            "category",
            "candidates",
            "called",
            VALUES,
            "correct",
            GENERAL,
            "timed"));
    for (Tally.Passes category : passes) {
      rows.add(
          cells(
              values,
              tally,
              Text.cut(Text.clean(category.name()), 20),
              Integer.toString(category.candidates()),
              rate(category.call(), category, shown),
              rate(category.values(), category, shown),
              rate(category.correct(), category, shown),
              general(category, shown),
              rate(category.perf(), category, shown)));
    }
    int[] widths = new int[rows.getFirst().size()];
    for (List<String> row : rows) {
      Arrays.setAll(widths, i -> Math.max(widths[i], Text.columns(row.get(i))));
    }
    return rows.stream().map(row -> aligned(row, widths)).toList();
  }

  /** A row without the columns that say nothing: right values, general, timed. */
  private static List<String> cells(boolean values, Tally tally, String... all) {
    List<String> cells = new ArrayList<>(List.of(all));
    if (!tally.perf()) cells.removeLast();
    if (!tally.general()) cells.remove(5);
    if (!values) cells.remove(3);
    return cells;
  }

  private static String aligned(List<String> row, int[] widths) {
    var line = new StringBuilder(Text.left(row.getFirst(), widths[0]));
    for (int i = 1; i < widths.length; i++) line.append(Text.right(row.get(i), widths[i] + 2));
    return line.toString();
  }

  private static String general(Tally.Passes passes, Function<Rate, String> shown) {
    Rate general = passes.general();
    return general == null ? Notes.unknownGeneral(passes) : shown.apply(general);
  }

  private static String rate(
      @Nullable Rate rate, Tally.Passes passes, Function<Rate, String> shown) {
    return rate == null ? Notes.unknown(passes) : shown.apply(rate);
  }

  /** {@code 12 correct · 5 wrong_values · …}, broken between statuses. */
  private List<String> statuses(List<VerdictRow> rows) {
    var lines = new ArrayList<String>();
    var line = new StringBuilder();
    for (var entry : Tally.byStatus(rows).entrySet()) {
      String part = entry.getValue() + " " + entry.getKey().label();
      if (!line.isEmpty() && line.length() + 3 + part.length() > width) {
        lines.add(line.toString());
        line.setLength(0);
      }
      line.append(line.isEmpty() ? "" : " · ").append(part);
    }
    lines.add(line.isEmpty() ? "No candidate was judged." : line.toString());
    return lines;
  }

  private String coverage(RunInfo run, List<VerdictRow> rows, Tally tally, boolean intervals) {
    String suite = Text.clean(run.suite());
    return Text.cut(
        "%d of %d tasks of %s have a candidate.%s"
            .formatted(
                tally.submitted(rows),
                tally.asked().total(),
                suite,
                intervals ? " [ ]: 95 % interval, percent." : ""),
        width);
  }

  private void notes(List<String> lines, RunInfo run, List<VerdictRow> rows, Tally tally) {
    for (Notes.Note note : Notes.of(run, rows, tally)) {
      for (String line : Text.wrap(note.text(), width, NOTE_LINES)) {
        lines.add(paint(Ansi.YELLOW, line));
      }
    }
  }

  /** The terminal's colours. */
  enum Ansi {
    PLAIN(0),
    DIM(2),
    RED(31),
    GREEN(32),
    YELLOW(33);

    private final int code;

    Ansi(int code) {
      this.code = code;
    }
  }

  static Ansi colourOf(Verdict verdict) {
    return switch (verdict.judgement().status().blame()) {
      case NOBODY -> Ansi.GREEN;
      case CANDIDATE -> Ansi.RED;
      case TASK, KBX -> Ansi.YELLOW;
    };
  }

  private String paint(Ansi ansi, String text) {
    return colour && ansi != Ansi.PLAIN ? "\u001b[" + ansi.code + "m" + text + "\u001b[0m" : text;
  }

  private static String format(String pattern, double value) {
    return String.format(Locale.ROOT, pattern, value);
  }
}
