package dev.kbx.paper;

import java.util.ArrayList;
import java.util.List;

/** What tables and figures need: packages, colours, the style of axes. */
final class LatexPreamble {
  private LatexPreamble() {}

  static String text() {
    List<String> lines = new ArrayList<>();
    lines.add("% What the tables and figures of this folder need: \\input{preamble} in your own.");
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
