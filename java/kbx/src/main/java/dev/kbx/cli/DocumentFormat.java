package dev.kbx.cli;

import static java.util.stream.Collectors.joining;

import dev.kbx.analysis.JudgedRun;
import dev.kbx.document.Block;
import dev.kbx.document.Document;
import dev.kbx.document.LatexRenderer;
import dev.kbx.document.MarkdownRenderer;
import dev.kbx.document.Section;
import dev.kbx.document.TerminalRenderer;
import dev.kbx.report.DocumentPage;
import dev.kbx.section.Captions;
import dev.kbx.verdict.RunInfo;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The options that name the medium of an analysis on stdout. */
@HelpSection.In(HelpSection.RESULTS)
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

  @Mixin private Options.JsonFlag json = new Options.JsonFlag();

  boolean isJson() {
    return json.isAsked();
  }

  /** Prints figures as JSON, or the document about them, after what is as published. */
  void print(AsPublished published, Object figures, Supplier<Document> document) {
    if (json.isAsked()) {
      Options.JsonFlag.print(published.marked(figures));
    } else {
      System.out.print(render(after(published.notes(), document.get())));
    }
  }

  private static Document after(List<Block.Note> notes, Document document) {
    if (notes.isEmpty()) return document;
    Section first = document.sections().getFirst();
    List<Block> blocks = new ArrayList<>(notes);
    blocks.addAll(first.blocks());
    List<Section> sections = new ArrayList<>(document.sections());
    sections.set(0, new Section(first.id(), first.title(), blocks));
    return new Document(document.title(), sections);
  }

  /** The document, ending in a line break. */
  private String render(Document document) {
    return switch (format) {
      case TEXT -> new TerminalRenderer(Terminal.columns()).render(document);
      case MD -> MarkdownRenderer.render(document);
      case LATEX -> document.sections().stream().map(LatexRenderer::render).collect(joining("\n"));
      case HTML -> DocumentPage.of(document);
    };
  }

  /** Runs of results as others published them, which no output may mistake for kbx's own. */
  static final class AsPublished {
    private final List<RunInfo> runs;

    private AsPublished(List<RunInfo> runs) {
      this.runs = runs;
    }

    /** The published runs among some runs. */
    static AsPublished among(List<JudgedRun> runs) {
      return new AsPublished(
          runs.stream().map(JudgedRun::run).filter(run -> run.published() != null).toList());
    }

    /** A note for each. */
    List<Block.Note> notes() {
      return runs.stream()
          .map(run ->
              new Block.Note(
                  "Run %s is as published (%s): kbx has judged none of it.%s"
                      .formatted(
                          run.id(),
                          format(run),
                          run.published() == null ? "" : Captions.leftOut(run.published()))))
          .toList();
    }

    /** Prints a line for each; nothing without one. */
    void print(PrintStream out) {
      notes().forEach(note -> out.println(note.text()));
      if (!runs.isEmpty()) out.println();
    }

    /** The document, with a member that has the format of each; unchanged without one. */
    Object marked(Object document) {
      if (runs.isEmpty() || !(document instanceof Map<?, ?> members)) return document;
      Map<String, Object> formats = new LinkedHashMap<>();
      for (RunInfo run : runs) formats.put(run.id(), format(run));
      Map<Object, Object> marked = new LinkedHashMap<>(members);
      marked.put("as_published", formats);
      return marked;
    }

    private static String format(RunInfo run) {
      RunInfo.Published published = run.published();
      return published == null ? "" : published.format();
    }
  }
}
