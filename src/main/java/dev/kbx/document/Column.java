package dev.kbx.document;

import java.util.function.Function;

/**
 * The head of a column of a {@link Block.Table}.
 *
 * @param number whether cells are aligned to the right
 * @param essential whether it is shown where there is not room for all
 * @param upright whether its head is turned on paper, as many narrow columns follow each other
 */
public record Column(String head, boolean number, boolean essential, boolean upright) {
  /** A column of text. */
  public static Column text(String head) {
    return new Column(head, false, true, false);
  }

  /** A column of numbers. */
  public static Column number(String head) {
    return new Column(head, true, true, false);
  }

  /** The same with its head turned on paper. */
  public Column turned() {
    return new Column(head, number, essential, true);
  }

  /** The same, left out where there is not room for all. */
  public Column optional() {
    return new Column(head, number, false, upright);
  }

  /** A column of text with what its cells show of an element. */
  public static <T> Of<T> text(String head, Function<T, String> text) {
    return new Of<>(text(head), each -> Cell.text(text.apply(each)));
  }

  /** A column of numbers with what its cells show of an element. */
  public static <T> Of<T> number(String head, Function<T, Cell> cell) {
    return new Of<>(number(head), cell);
  }

  /** A column with what its cells show of the element of a row. */
  public record Of<T>(Column column, Function<T, Cell> cell) {
    /** The same, left out where there is not room for all. */
    public Of<T> optional() {
      return new Of<>(column.optional(), cell);
    }
  }
}
