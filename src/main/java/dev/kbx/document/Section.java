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

  /** The tables among the blocks. */
  public List<Block.Table> tables() {
    return blocks.stream()
        .filter(Block.Table.class::isInstance)
        .map(Block.Table.class::cast)
        .toList();
  }
}
