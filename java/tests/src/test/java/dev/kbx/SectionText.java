package dev.kbx;

import dev.kbx.document.Document;
import dev.kbx.document.Section;
import dev.kbx.document.TerminalRenderer;
import java.util.List;

/** What a terminal shows of a section. */
public final class SectionText {
  private SectionText() {}

  /** Its title and lines, none wider than {@code width}. */
  public static String of(int width, Section section) {
    return new TerminalRenderer(width).render(new Document("", List.of(section)));
  }

  /** The same in one line, with single spaces. */
  public static String words(Section section) {
    return of(200, section).replaceAll("\\s+", " ");
  }
}
