package dev.kbx.document;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Rows of cells as aligned lines.
 *
 * @param align a letter a column: {@code l} or {@code r}
 */
public record Grid(String align, List<List<String>> rows) {
  private static final String GAP = "  ";

  /** To so many columns text is cut at most. */
  private static final int LEAST = 12;

  /** Width of the first column that suffices to recognise a name. */
  private static final int RECOGNISABLE = 16;

  /**
   * The lines; if they exceed {@code width}, columns of text are cut, the widest first, then the
   * end.
   */
  public List<String> lines(int width) {
    return lines(width, Painter.PLAIN);
  }

  /** Gives a cell a colour. */
  interface Painter {
    Painter PLAIN = (_, _, text) -> text;

    String paint(int row, int column, String text);
  }

  /** The lines in colours, which take no columns. */
  List<String> lines(int width, Painter painter) {
    int[] widths = widths();
    for (int over = width(widths) - width; over > 0; over--) {
      int widest = widestText(widths);
      if (widths[widest] <= LEAST) break;
      widths[widest]--;
    }
    List<String> lines = new ArrayList<>();
    for (int i = 0; i < rows.size(); i++) {
      String plain = line(i, widths, Painter.PLAIN);
      lines.add(Text.columns(plain) > width ? Text.cut(plain, width) : line(i, widths, painter));
    }
    return lines;
  }

  /** Whether {@code width} columns suffice for all cells, with the first column recognisable. */
  public boolean fits(int width) {
    int[] widths = widths();
    return width(widths) - widths[0] + Math.min(RECOGNISABLE, widths[0]) <= width;
  }

  private int widestText(int[] widths) {
    int widest = 0;
    for (int i = 1; i < widths.length; i++) {
      if (align.charAt(i) == 'l' && widths[i] > widths[widest]) widest = i;
    }
    return widest;
  }

  private int width(int[] widths) {
    return GAP.length() * (widths.length - 1) + Arrays.stream(widths).sum();
  }

  private int[] widths() {
    int[] widths = new int[align.length()];
    for (List<String> row : rows) {
      for (int i = 0; i < widths.length; i++) {
        widths[i] = Math.max(widths[i], Text.columns(row.get(i)));
      }
    }
    return widths;
  }

  private String line(int row, int[] widths, Painter painter) {
    StringBuilder line = new StringBuilder();
    int last = widths.length - 1;
    while (last > 0 && rows.get(row).get(last).isEmpty()) last--;
    for (int i = 0; i <= last; i++) {
      String whole = rows.get(row).get(i);
      // The last column is prose more often than a path.
      String cell =
          i > 0 && i == widths.length - 1
              ? Text.cut(whole, widths[i])
              : Text.cutMiddle(whole, widths[i]);
      String gap = " ".repeat(widths[i] - Text.columns(cell));
      String painted = cell.isEmpty() ? cell : painter.paint(row, i, cell);
      line.append(i == 0 ? "" : GAP);
      if (align.charAt(i) == 'r') line.append(gap).append(painted);
      else line.append(painted).append(i == last ? "" : gap);
    }
    return line.toString();
  }
}
