package dev.kbx.document;

import java.util.List;

/** What an analysis has to say, independent of the medium that shows it. */
public record Document(String title, List<Section> sections) {
  public Document {
    sections = List.copyOf(sections);
  }

  /** A document of one section, which has the title. */
  public static Document of(Section section) {
    return new Document(section.title(), List.of(section));
  }
}
