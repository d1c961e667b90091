package dev.kbx.cli;

import static java.util.stream.Collectors.joining;

import dev.kbx.document.Document;
import dev.kbx.document.LatexRenderer;
import dev.kbx.document.MarkdownRenderer;
import dev.kbx.document.TerminalRenderer;
import dev.kbx.report.DocumentPage;
import java.util.Locale;
import picocli.CommandLine.Option;

/** The option that names the medium of a document on stdout. */
final class DocumentFormat {
  enum Format {
    TEXT,
    MD,
    LATEX,
    HTML;

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  @Option(
      names = "--format",
      paramLabel = "FORMAT",
      defaultValue = "text",
      description = "${COMPLETION-CANDIDATES}. Default: ${DEFAULT-VALUE}.")
  private Format format = Format.TEXT;

  /** The document, ending in a line break. */
  String render(Document document) {
    return switch (format) {
      case TEXT -> new TerminalRenderer(Terminal.columns()).render(document);
      case MD -> MarkdownRenderer.render(document);
      case LATEX -> document.sections().stream().map(LatexRenderer::render).collect(joining("\n"));
      case HTML -> DocumentPage.of(document);
    };
  }
}
