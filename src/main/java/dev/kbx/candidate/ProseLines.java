package dev.kbx.candidate;

import dev.kbx.syntax.ByteOrderMark;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Finds runs of lines of Python in prose, by what lines begin with. */
final class ProseLines {
  /** A line that Python code may begin with. */
  private static final Pattern START =
      Pattern.compile(
          "(?:import \\w[\\w., ]*+(?: as \\w+)?|from [\\w.]++ import .*|@\\w.*|(?:async )?def \\w++"
              + " ?\\(.*|class \\w++"
              + " ?[:(].*|[rR]?(?:\"\"\"|''').*|[A-Za-z_][\\w.]*+(?:\\[[^\\]]*+\\])?(?::"
              + " ?[\\w.\\[\\], ]++)? ?[-+*/|&]?=(?!=).*)\\s*+");

  /** A line within code, at column 1. */
  private static final Pattern CONTINUING =
      Pattern.compile(
          "(?:#.*|[)\\]}].*|(?:if|elif|for|while|with|try|except|else|finally)\\b.*:(?:\\s*+#.*)?"
              + "|(?:raise|assert|del|global|pass|return)\\b.*|[A-Za-z_][\\w.]*+[(\\[].*)\\s*+");

  private final List<String> runs = new ArrayList<>();
  private final StringBuilder run = new StringBuilder();

  /** The triple quotes of an open string. */
  private @Nullable String open;

  private ProseLines() {}

  /** Runs of lines of Python, in order. */
  static List<String> runs(String text) {
    ProseLines reader = new ProseLines();
    for (String line : text.split("(?<=\n)", -1)) reader.line(line);
    reader.end();
    return reader.runs;
  }

  private void line(String line) {
    if (open == null && !isCode(line)) {
      end();
      return;
    }
    run.append(line);
    open = openAfter(line, open);
  }

  private boolean isCode(String line) {
    String bare = ByteOrderMark.without(line.stripTrailing());
    if (run.isEmpty()) return START.matcher(bare).matches();
    return bare.isEmpty()
        || Character.isWhitespace(bare.charAt(0))
        || START.matcher(bare).matches()
        || CONTINUING.matcher(bare).matches();
  }

  private void end() {
    if (!run.isEmpty()) runs.add(run.toString().stripTrailing() + "\n");
    run.setLength(0);
    open = null;
  }

  /** The triple quotes that are open after a line. */
  private static @Nullable String openAfter(String line, @Nullable String before) {
    String quotes = before;
    for (int at = 0; at < line.length(); at++) {
      if (quotes == null && line.charAt(at) == '#') return null;
      String three = line.substring(at, Math.min(line.length(), at + 3));
      boolean triple = three.equals("\"\"\"") || three.equals("'''");
      if (!triple || (quotes != null && !quotes.equals(three))) continue;
      quotes = quotes == null ? three : null;
      at += 2;
    }
    return quotes;
  }
}
