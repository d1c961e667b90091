package dev.kbx.document;

import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The head of a column of a {@link Block.Table}.
 *
 * @param number whether cells are aligned to the right
 * @param essential whether it is shown where there is not room for all
 * @param upright whether its head is turned on paper, as many narrow columns follow each other
 * @param wrapped whether its cells are prose, broken into lines; the last column only
 */
public record Column(
    String head, boolean number, boolean essential, boolean upright, boolean wrapped) {
  /** A column of text. */
  public static Column text(String head) {
    return new Column(head, false, true, false, false);
  }

  /** A column of numbers. */
  public static Column number(String head) {
    return new Column(head, true, true, false, false);
  }

  /** This column with its head turned on paper. */
  public Column turned() {
    return new Column(head, number, essential, true, wrapped);
  }

  /** This column under another head. */
  Column called(String other) {
    return new Column(other, number, essential, upright, wrapped);
  }

  /** This column, left out where there is not room for all. */
  public Column optional() {
    return new Column(head, number, false, upright, wrapped);
  }

  /** A column of text with what its cells show of an element. */
  public static <T> Of<T> text(String head, Function<T, @Nullable String> text) {
    return new Of<>(text(head), each -> Cell.text(text.apply(each)));
  }

  /** A column of numbers with what its cells show of an element. */
  public static <T> Of<T> number(String head, Function<T, Cell> cell) {
    return new Of<>(number(head), cell);
  }

  /** A column with what its cells show of the element of a row. */
  public record Of<T>(Column column, Function<T, Cell> cell) {
    /** This column, left out where there is not room for all. */
    public Of<T> optional() {
      return new Of<>(column.optional(), cell);
    }

    /** This column, its cells broken into lines. */
    public Of<T> wrapped() {
      return new Of<>(
          new Column(column.head, column.number, column.essential, column.upright, true), cell);
    }
  }
}
