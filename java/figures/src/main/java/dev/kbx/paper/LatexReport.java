package dev.kbx.paper;

import dev.kbx.document.Block;
import dev.kbx.document.Figure;
import dev.kbx.document.Latex;
import dev.kbx.document.LatexRenderer;
import dev.kbx.document.PgfFigure;
import dev.kbx.document.Section;
import dev.kbx.document.SvgFigure;
import dev.kbx.files.AtomicFile;
import dev.kbx.files.UnwritableException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * A publication as a folder for LaTeX: {@code main.tex}, which can be compiled as it is, and its
 * parts, each a table or a figure to be put into another document after {@code preamble.tex}.
 *
 * <pre>
 *   main.tex  preamble.tex  appendix.tex
 *   tables/rates.tex, …
 *   figures/rates.tex, rates.svg, …
 * </pre>
 */
public final class LatexReport {
  private final Path folder;
  private final List<String> main = new ArrayList<>();
  private final Set<String> written = new HashSet<>();

  private LatexReport(Path folder) {
    this.folder = folder;
  }

  /**
   * Writes the files; those of the same names are replaced.
   *
   * @throws UnwritableException if one cannot be written
   */
  public static void write(Publication publication, Path folder) {
    new LatexReport(folder).write(publication);
  }

  private void write(Publication publication) {
    folders();
    file("preamble.tex", LatexPreamble.text());
    file("appendix.tex", appendix(publication));
    main.add("\\documentclass[11pt,a4paper]{article}");
    main.add("\\input{preamble}");
    main.add("% Tables and figures where they are, as there is no text to float over.");
    main.add("\\usepackage{float}");
    main.add("\\floatplacement{table}{H}");
    main.add("\\floatplacement{figure}{H}");
    main.add("\\title{%s}".formatted(Latex.escape(publication.title())));
    main.add("\\author{kbx report}");
    main.add("\\date{}");
    main.add("\\begin{document}");
    main.add("\\maketitle");
    List<Figure> figures = Figures.of(publication);
    for (Section section : publication.sections()) section(section, figures);
    main.add("\\appendix");
    main.add("\\input{appendix}");
    main.add("\\end{document}");
    file("main.tex", String.join("\n", main) + "\n");
  }

  private void section(Section section, List<Figure> figures) {
    List<Figure> drawn =
        figures.stream().filter(figure -> sectionOf(figure).equals(section.id())).toList();
    if (section.blocks().isEmpty() && drawn.isEmpty()) return;
    main.add("\\section{%s}".formatted(Latex.escape(section.title())));
    for (Block block : section.blocks()) {
      if (block instanceof Block.Table table) {
        file("tables/%s.tex".formatted(table.id()), LatexRenderer.render(table));
        main.add("\\input{tables/%s}".formatted(table.id()));
      } else {
        main.add(LatexRenderer.render(block));
      }
    }
    for (Figure figure : drawn) {
      file("figures/%s.tex".formatted(figure.id()), PgfFigure.of(figure));
      file("figures/%s.svg".formatted(figure.id()), SvgFigure.of(figure));
      main.add("\\input{figures/%s}".formatted(figure.id()));
    }
  }

  private static String sectionOf(Figure figure) {
    String kind = figure.id().split("-", 2)[0];
    return switch (kind) {
      case "deviance" -> "deviance";
      case "iterations" -> "iterations";
      case "fastp" -> "speed";
      case "spread" -> "devices";
      case "budget" -> "budget";
      default -> "methods";
    };
  }

  private static String appendix(Publication publication) {
    List<String> lines = new ArrayList<>();
    lines.add("\\section{%s}".formatted(Publication.Measurement.TITLE));
    lines.add("\\begin{raggedright}");
    for (Appendix.Item item : Appendix.of(publication.measurement())) {
      lines.add("\\paragraph{%s}".formatted(Latex.escape(item.subject())));
      item.items().forEach(sentence -> lines.add(Latex.escape(sentence)));
      lines.add("");
    }
    if (!publication.without().isEmpty()) {
      lines.add("\\paragraph{Without data}");
      for (Publication.Without each : publication.without()) {
        lines.add(Latex.escape("%s: %s.".formatted(each.analysis(), each.why())));
      }
      lines.add("");
    }
    lines.add("\\end{raggedright}");
    return String.join("\n", lines) + "\n";
  }

  /** Creates the folders, which must not be in the way of {@link #file}. */
  private void folders() {
    for (String name : List.of("tables", "figures")) {
      Path below = folder.resolve(name);
      UnwritableException.naming(below, () -> Files.createDirectories(below));
    }
  }

  private void file(String name, String text) {
    if (!written.add(name)) throw new IllegalStateException("two parts are named " + name);
    AtomicFile.replace(folder.resolve(name), writer -> writer.write(text));
  }

  /** What tables and figures need: packages, colours, the style of axes. */
  private static final class LatexPreamble {
    private LatexPreamble() {}

    static String text() {
      List<String> lines = new ArrayList<>();
      lines.add(
          "% What the tables and figures of this folder need: \\input{preamble} in your own.");
      lines.add(
          """
          \\usepackage[T1]{fontenc}
          \\usepackage[utf8]{inputenc}
          % Outlines in place of bitmaps, wherever one of them is installed.
          \\IfFileExists{lmodern.sty}{\\usepackage{lmodern}}{\\usepackage{mathptmx}}
          \\usepackage{textcomp}
          \\usepackage[margin=2.4cm]{geometry}
          \\usepackage[font=small,skip=5pt]{caption}
          \\usepackage{booktabs}
          \\usepackage{graphicx}
          \\usepackage{adjustbox}
          \\usepackage{pgfplots}
          \\pgfplotsset{compat=1.16}\
          """);
      for (int i = 0; i < Figure.COLOURS.size(); i++) {
        lines.add(
            "\\definecolor{kbx%c}{HTML}{%s}".formatted((char) ('A' + i), Figure.COLOURS.get(i)));
      }
      lines.add(
          """
          \\pgfplotsset{
            kbx guide/.style={gray, thin, mark=none},
            kbx/.style={
              scale only axis,
              grid=major, grid style={gray!25},
              tick align=outside, tick pos=left,
              tick label style={font=\\footnotesize},
              label style={font=\\small},
              minor tick num=0, minor x tick num=0, minor y tick num=0,
              every mark/.append style={scale=0.9},
              legend style={font=\\footnotesize, draw=none, at={(axis description cs:0.5,0)},
                yshift=-1.15cm, anchor=north, /tikz/every even column/.append style={column sep=0.4cm}},
              legend cell align=left,
            },
          }\
          """);
      return String.join("\n", lines) + "\n";
    }
  }
}
