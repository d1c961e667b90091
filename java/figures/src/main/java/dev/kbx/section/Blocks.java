package dev.kbx.section;

import dev.kbx.document.Block;
import dev.kbx.document.Column;
import dev.kbx.document.Section;
import java.util.ArrayList;
import java.util.List;

/** The blocks of a section while it is written. Texts with values are format strings. */
@SuppressWarnings("AnnotateFormatMethod") // Its annotations are not on the class path.
final class Blocks {
  private final List<Block> blocks = new ArrayList<>();

  void prose(String text, Object... values) {
    blocks.add(new Block.Prose(values.length == 0 ? text : text.formatted(values)));
  }

  void note(String text, Object... values) {
    blocks.add(new Block.Note(values.length == 0 ? text : text.formatted(values)));
  }

  void add(Block block) {
    blocks.add(block);
  }

  void addAll(List<? extends Block> more) {
    blocks.addAll(more);
  }

  /** A table, unless it has no rows. */
  <T> void table(String id, String caption, List<Column.Of<T>> columns, List<T> rows) {
    if (!rows.isEmpty()) blocks.add(Block.Table.of(id, caption, columns, rows));
  }

  /** A table that shows rows as lists where a page is narrow, unless it has none. */
  <T> void stacked(String id, String caption, List<Column.Of<T>> columns, List<T> rows) {
    if (!rows.isEmpty()) blocks.add(Block.Table.of(id, caption, columns, rows).stack());
  }

  /** The first rows of a table, and how many more there are. */
  <T> void first(int most, String id, String caption, List<Column.Of<T>> columns, List<T> rows) {
    table(id, caption, columns, first(most, rows));
    if (rows.size() > most) note("… and %d more, in the JSON document.", rows.size() - most);
  }

  /** The first elements, at most so many. */
  static <T> List<T> first(int most, List<T> all) {
    return all.subList(0, Math.min(most, all.size()));
  }

  Section section(String id, String title) {
    return new Section(id, title, blocks);
  }
}
