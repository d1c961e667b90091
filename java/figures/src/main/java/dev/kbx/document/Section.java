package dev.kbx.document;

import java.util.List;

/**
 * A part of a document.
 *
 * @param id its name in anchors and files: lower-case letters, digits and hyphens
 */
public record Section(String id, String title, List<Block> blocks) {
  public Section {
    blocks = List.copyOf(blocks);
  }

  /** This section with a number at the end of its id and those of its tables. */
  Section numbered(int number) {
    return new Section(
        id + "-" + number,
        title,
        blocks.stream()
            .map(block ->
                block instanceof Block.Table table
                    ? new Block.Table(
                        table.id() + "-" + number, table.caption(), table.columns(), table.rows())
                    : block)
            .toList());
  }

  /** The tables among the blocks. */
  public List<Block.Table> tables() {
    return blocks.stream()
        .filter(Block.Table.class::isInstance)
        .map(Block.Table.class::cast)
        .toList();
  }
}
