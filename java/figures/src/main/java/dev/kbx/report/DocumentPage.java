package dev.kbx.report;

import dev.kbx.document.Document;
import dev.kbx.document.HtmlRenderer;
import dev.kbx.document.Section;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;

/** A document as an HTML file that works alone, without scripts. */
public final class DocumentPage {
  private DocumentPage() {}

  public static String of(Document document) {
    StringWriter page = new StringWriter();
    try {
      Html.Template.fill(
          "document.html",
          page,
          (writer, hole) -> {
            switch (hole) {
              case "title" -> writer.write(Html.escape(document.title()));
              case "sections" -> {
                for (Section section : document.sections()) {
                  writer.write(HtmlRenderer.render(section));
                }
              }
              default ->
                  throw new IllegalStateException("the template has an unknown hole: " + hole);
            }
          });
    } catch (IOException e) {
      throw new UncheckedIOException(e); // Not into memory.
    }
    return page.toString();
  }
}
