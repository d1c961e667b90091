package dev.kbx.report;

import dev.kbx.document.Text;
import dev.kbx.syntax.Place;
import java.util.ArrayList;
import java.util.List;

/**
 * A line of source for a terminal, with marks below it.
 *
 * @param marks {@code ^~~~} under the place
 */
record SourceLine(String text, String marks) {
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
      if (used + cell.columns > room - 1 && (i < cells.size() - 1 || to < place.text().length())) {
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
