package dev.kbx.report;

import dev.kbx.check.Finding;
import dev.kbx.check.InvalidSource;
import dev.kbx.check.Severity;
import dev.kbx.document.Counted;
import dev.kbx.document.Text;
import dev.kbx.syntax.Place;
import java.util.ArrayList;
import java.util.List;

/**
 * Findings in the style of compilers: place, severity, rule, message, source line, advice.
 *
 * @param width columns for a line of source; longer lines are cut around the place
 * @param colour whether to write ANSI colours
 */
public record CheckText(int width, boolean colour) {
  private static final int NUMBER = 5;
  private static final String RED = "31";
  private static final String YELLOW = "33";
  private static final String CYAN = "36";
  private static final String DIM = "2";

  /** The findings and a last line with totals, ending in a line break. */
  public String render(Checks checks) {
    List<String> lines = new ArrayList<>();
    for (Checks.Checked source : checks.sources()) {
      source.report().broken().ifPresent(broken -> add(lines, source, broken));
      for (Finding finding : source.findings(checks.least())) add(lines, source, finding);
    }
    lines.add(summary(checks));
    return String.join("\n", lines) + "\n";
  }

  private void add(List<String> lines, Checks.Checked source, InvalidSource broken) {
    lines.add(
        head(source, broken.place(), RED, "broken", broken.status().label(), broken.message()));
    excerpt(lines, broken.place(), RED);
  }

  private void add(List<String> lines, Checks.Checked source, Finding finding) {
    String ansi = ansi(finding.severity());
    lines.add(
        head(
            source,
            finding.place(),
            ansi,
            finding.severity().label(),
            finding.rule(),
            finding.message()));
    excerpt(lines, finding.place(), ansi);
    lines.add(gutter("= ") + "instead: " + Text.clean(finding.advice()));
  }

  private String head(
      Checks.Checked source,
      Place place,
      String ansi,
      String severity,
      String rule,
      String message) {
    return "%s:%d:%d: %s: %s: %s"
        .formatted(
            Text.clean(source.name()),
            place.line(),
            place.column(),
            paint(ansi, severity),
            rule,
            Text.clean(message));
  }

  private void excerpt(List<String> lines, Place place, String ansi) {
    if (place.text().isBlank()) return;
    SourceLine line = SourceLine.of(place, width - NUMBER - 3);
    lines.add(paint(DIM, Text.right(Integer.toString(place.line()), NUMBER) + " | ") + line.text());
    lines.add(gutter("| ") + paint(ansi, line.marks()));
  }

  private String gutter(String mark) {
    return paint(DIM, " ".repeat(NUMBER + 1) + mark);
  }

  private static String ansi(Severity severity) {
    return switch (severity) {
      case REJECT -> RED;
      case FLAG -> YELLOW;
      case NOTE -> CYAN;
    };
  }

  private static String summary(Checks checks) {
    List<String> parts = new ArrayList<>();
    if (checks.broken() > 0) parts.add(checks.broken() + " broken");
    long rejections = checks.count(Severity.REJECT);
    if (rejections > 0) parts.add(counted(rejections, "rejection"));
    if (checks.count(Severity.FLAG) > 0) parts.add(counted(checks.count(Severity.FLAG), "flag"));
    if (checks.count(Severity.NOTE) > 0) parts.add(counted(checks.count(Severity.NOTE), "note"));
    String found = parts.isEmpty() ? "nothing found" : String.join(", ", parts);
    return found + " in " + counted(checks.sources().size(), "source");
  }

  private static String counted(long number, String what) {
    return number + " " + Counted.noun(number, what);
  }

  private String paint(String ansi, String text) {
    return colour ? "\u001b[" + ansi + "m" + text + "\u001b[0m" : text;
  }

  /**
   * A line of source for a terminal, with marks below it.
   *
   * @param marks {@code ^~~~} under the place
   */
  private record SourceLine(String text, String marks) {
    private static final String TAB = "    ";

    /** Representation of one character of the line. */
    private record Cell(String text, int columns, boolean marked) {}

    /** The line, cut around the place to {@code room} columns. */
    static SourceLine of(Place place, int room) {
      // The line may be a megabyte long; only the part around the place is shown.
      int from = Math.max(0, place.column() - 1 - room);
      int to = Math.min(place.text().length(), place.column() + room);
      List<Cell> cells = cells(place, from, to);
      int first = 0;
      int marked = firstMarked(cells);
      boolean all = from == 0 && columns(cells) <= room;
      while (!all && first < marked && columns(cells.subList(first, marked)) > room / 3) first++;
      boolean cutLeft = from + first > 0;
      StringBuilder text = new StringBuilder(cutLeft ? "…" : "");
      StringBuilder marks = new StringBuilder(cutLeft ? " " : "");
      int used = text.length();
      boolean pointed = false;
      for (int i = first; i < cells.size(); i++) {
        Cell cell = cells.get(i);
        if (used + cell.columns > room - 1
            && (i < cells.size() - 1 || to < place.text().length())) {
          text.append('…');
          break;
        }
        used += cell.columns;
        text.append(cell.text);
        if (cell.columns == 0) continue;
        String mark = cell.marked ? (pointed ? "~" : "^") : " ";
        marks.append(mark).append((cell.marked ? "~" : " ").repeat(cell.columns - 1));
        pointed |= cell.marked;
      }
      if (!pointed) marks.append('^');
      return new SourceLine(text.toString().stripTrailing(), marks.toString().stripTrailing());
    }

    private static List<Cell> cells(Place place, int from, int to) {
      List<Cell> cells = new ArrayList<>();
      int i = from;
      while (i < to) {
        int c = place.text().codePointAt(i);
        String shown = c == '\t' ? TAB : Text.isPrintable(c) ? Character.toString(c) : " ";
        boolean marked = i + 1 >= place.column() && i + 1 < place.end();
        cells.add(new Cell(shown, Text.columns(shown), marked));
        i += Character.charCount(c);
      }
      return cells;
    }

    private static int firstMarked(List<Cell> cells) {
      for (int i = 0; i < cells.size(); i++) if (cells.get(i).marked) return i;
      return cells.size();
    }

    private static int columns(List<Cell> cells) {
      return cells.stream().mapToInt(Cell::columns).sum();
    }
  }
}
