package dev.kbx.document;

import java.util.List;

/**
 * A part of a document.
 *
 * @param id its name in anchors and files: lower-case letters, digits and hyphens
 * @param folded whether a page shows the title alone until it is opened
 */
public record Section(String id, String title, List<Block> blocks, boolean folded) {
  public Section {
    blocks = List.copyOf(blocks);
  }

  /** An open section. */
  public Section(String id, String title, List<? extends Block> blocks) {
    this(id, title, List.copyOf(blocks), false);
  }

  /** This section, of which pages show the title until it is opened. */
  public Section fold() {
    return new Section(id, title, blocks, true);
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
                        table.id() + "-" + number,
                        table.caption(),
                        table.columns(),
                        table.rows(),
                        table.stacked())
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
