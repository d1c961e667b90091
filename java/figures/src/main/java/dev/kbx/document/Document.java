package dev.kbx.document;

import java.util.ArrayList;
import java.util.List;

/** What an analysis has to say, independent of the medium that shows it. */
public record Document(String title, List<Section> sections) {
  public Document {
    sections = List.copyOf(sections);
  }

  /** This document without its folded sections. */
  public Document brief() {
    return new Document(title, sections.stream().filter(each -> !each.folded()).toList());
  }

  /** A document of sections of one kind: of several each has its number in its ids. */
  public static Document ofAlike(String title, List<Section> sections) {
    if (sections.size() < 2) return new Document(title, sections);
    List<Section> numbered = new ArrayList<>();
    for (Section section : sections) numbered.add(section.numbered(numbered.size() + 1));
    return new Document(title, numbered);
  }

  /** A document of one section, which has the title. */
  public static Document of(Section section) {
    return new Document(section.title(), List.of(section));
  }
}
