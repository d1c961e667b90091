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
    int[] widths = widths();
    for (int over = width(widths) - width; over > 0; over--) {
      int widest = widestText(widths);
      if (widths[widest] <= LEAST) break;
      widths[widest]--;
    }
    return rows.stream().map(row -> Text.cut(line(row, widths), width)).toList();
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

  private String line(List<String> row, int[] widths) {
    List<String> cells = new ArrayList<>();
    for (int i = 0; i < widths.length; i++) {
      String cell = Text.cutMiddle(row.get(i), widths[i]);
      cells.add(align.charAt(i) == 'l' ? Text.left(cell, widths[i]) : Text.right(cell, widths[i]));
    }
    return String.join(GAP, cells).stripTrailing();
  }
}
