package dev.kbx.paper;

import static dev.kbx.document.MarkdownRenderer.escape;

import dev.kbx.document.MarkdownRenderer;
import dev.kbx.document.Section;
import java.util.ArrayList;
import java.util.List;

/** A publication as one Markdown file: tables by section, and how they were measured. */
public final class MarkdownReport {
  private MarkdownReport() {}

  public static String of(Publication publication) {
    List<String> lines = new ArrayList<>();
    lines.add("# " + escape(publication.title()));
    for (Section section : publication.sections()) {
      if (!section.blocks().isEmpty()) lines.addAll(MarkdownRenderer.lines(section));
    }
    if (!publication.without().isEmpty()) {
      lines.add("");
      lines.add("## Without data");
      lines.add("");
      for (Publication.Without each : publication.without()) {
        lines.add("- %s: %s.".formatted(escape(each.analysis()), escape(each.why())));
      }
    }
    lines.add("");
    lines.add("## " + Publication.Measurement.TITLE);
    for (Appendix.Item item : Appendix.of(publication.measurement())) {
      lines.add("");
      lines.add("**" + item.subject() + ".**");
      lines.add("");
      item.items().forEach(sentence -> lines.add("- " + escape(sentence)));
    }
    return String.join("\n", lines) + "\n";
  }
}
