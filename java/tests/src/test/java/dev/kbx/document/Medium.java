package dev.kbx.document;

import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;

/** A medium, and what it shows of the cells of a table's rows. */
public enum Medium {
  TERMINAL {
    @Override
    public String render(Section section) {
      return new TerminalRenderer(WIDE).render(Document.of(section));
    }

    @Override
    public String plain(Section section) {
      return new TerminalRenderer(10 * WIDE).render(Document.of(section));
    }

    @Override
    List<List<String>> cells(String text, int rows) {
      List<String> lines = text.lines().dropWhile(line -> !line.startsWith("kind")).toList();
      return lines.subList(1, rows + 1).stream()
          .map(line -> List.of(line.split(" {2,}", -1)))
          .toList();
    }
  },
  MARKDOWN {
    @Override
    public String render(Section section) {
      return MarkdownRenderer.render(Document.of(section));
    }

    @Override
    public String plain(Section section) {
      return render(section).replace("\\", "").replace("&lt;", "<").replace("&amp;", "&");
    }

    @Override
    List<List<String>> cells(String text, int rows) {
      return text.lines()
          .filter(line -> line.startsWith("| "))
          .skip(2)
          .map(line -> line.replace("&lt;", "<").replace("\\", ""))
          .map(line -> List.of(line.substring(2, line.length() - 2).split(" \\| ", -1)))
          .toList();
    }
  },
  LATEX {
    @Override
    public String render(Section section) {
      return LatexRenderer.render(section);
    }

    @Override
    public String plain(Section section) {
      return untex(render(section));
    }

    @Override
    List<List<String>> cells(String text, int rows) {
      String body = text.substring(text.indexOf("\\midrule"), text.indexOf("\\bottomrule"));
      return body.lines()
          .skip(1)
          .map(line -> line.replace(" \\\\", ""))
          .map(line -> Arrays.stream(line.split(" & ", -1)).map(Medium::untex).toList())
          .toList();
    }
  },
  HTML {
    @Override
    public String render(Section section) {
      return HtmlRenderer.render(section);
    }

    @Override
    public String plain(Section section) {
      return render(section)
          .replaceAll("<[^>]*>", " ")
          .replace("&lt;", "<")
          .replace("&gt;", ">")
          .replace("&quot;", "\"")
          .replace("&#39;", "'")
          .replace("&#x3D;", "=")
          .replace("&#x60;", "`")
          .replace("&amp;", "&");
    }

    @Override
    List<List<String>> cells(String text, int rows) {
      return Pattern.compile("<tr>(<td.*?)</tr>")
          .matcher(text)
          .results()
          .map(row -> row.group(1))
          .map(row ->
              Pattern.compile("<td[^>]*>(.*?)</td>")
                  .matcher(row)
                  .results()
                  .map(cell -> cell.group(1).replaceAll("<[^>]*>", "").replace("&lt;", "<"))
                  .toList())
          .toList();
    }
  };

  /** The section as the medium shows it. */
  public abstract String render(Section section);

  /** What it shows without its marks. */
  public abstract String plain(Section section);

  abstract List<List<String>> cells(String text, int rows);

  private static final int WIDE = 200;

  private static String untex(String cell) {
    return cell.replaceAll("\\{([^{}])}", "$1")
        .replace("\\textless", "<")
        .replace("{}", "")
        .replace("$\\times$", "×")
        .replace("$\\infty$", "∞")
        .replace("$\\ge$", "≥")
        .replace("--", "–")
        .replace("\\", "");
  }
}
