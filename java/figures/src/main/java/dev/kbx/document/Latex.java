package dev.kbx.document;

/** Plain text for LaTeX, so that it is printed as it is and does nothing. */
public final class Latex {
  private Latex() {}

  /** The text in one line; characters that pdfTeX's fonts lack are a question mark. */
  public static String escape(String text) {
    StringBuilder escaped = new StringBuilder();
    Text.clean(text).codePoints().forEach(c -> append(escaped, c));
    return escaped.toString();
  }

  private static void append(StringBuilder escaped, int c) {
    switch (c) {
      case '&', '%', '$', '#', '_', '{', '}' -> escaped.append('\\').append((char) c);
      case '\\' -> escaped.append("\\textbackslash{}");
      case '~' -> escaped.append("\\textasciitilde{}");
      case '^' -> escaped.append("\\textasciicircum{}");
      case '<' -> escaped.append("\\textless{}");
      case '>' -> escaped.append("\\textgreater{}");
      case '|' -> escaped.append("\\textbar{}");
      case '"' -> escaped.append("\\textquotedbl{}");
      case '\'' -> escaped.append("\\textquotesingle{}");
      case '`' -> escaped.append("\\textasciigrave{}");
      // Two of them would become a dash, and [ the beginning of an option after a line's end.
      case '-' -> escaped.append("{-}");
      case ',' -> escaped.append("{,}");
      // A line's end would take it for its own.
      case '*' -> escaped.append("{*}");
      case '[' -> escaped.append("{[}");
      case ']' -> escaped.append("{]}");
      // Ligatures of Spanish.
      case '?', '!' -> escaped.append('{').append((char) c).append('}');
      case '–' -> escaped.append("--");
      case '—' -> escaped.append("---");
      case '−' -> escaped.append("$-$");
      case '×' -> escaped.append("$\\times$");
      case '÷' -> escaped.append("$\\div$");
      case '·' -> escaped.append("$\\cdot$");
      case '≤' -> escaped.append("$\\le$");
      case '≥' -> escaped.append("$\\ge$");
      case '±' -> escaped.append("$\\pm$");
      case '∞' -> escaped.append("$\\infty$");
      case 'χ' -> escaped.append("$\\chi$");
      case '²' -> escaped.append("$^2$");
      case 'µ', 'μ' -> escaped.append("$\\mu$");
      case '°' -> escaped.append("$^\\circ$");
      case '…' -> escaped.append("\\ldots{}");
      default -> escaped.append(isKnown(c) ? Character.toString(c) : "{?}");
    }
  }

  /** ASCII, and the letters of Latin-1, which the fonts of the T1 encoding have. */
  private static boolean isKnown(int c) {
    return c < 0x7f || (c >= 0xc0 && c <= 0xff);
  }
}
