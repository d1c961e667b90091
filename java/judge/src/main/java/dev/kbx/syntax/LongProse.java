package dev.kbx.syntax;

import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Prose in long lines, such as a model's that repeats itself: the parser looks for Python in it for
 * a time that grows with the square of a line's length, a second for 26,000 characters.
 *
 * <p>Text is called prose only if no Python begins as it does. Reading ends where a string may
 * begin, as anything may be in one.
 */
final class LongProse {
  /** Characters of a line: shorter ones take the parser no longer than code does. */
  private static final int LONG = 2_000;

  /** Comments, names with a name or a quote behind them, and what else ends the reading. */
  private static final Pattern TOKEN =
      Pattern.compile(
          "#[^\\n]*+|(?<![\\w.])([A-Za-z_]\\w*+)(?:[ \\t]++(?=([A-Za-z_]\\w*+))|(?=[\"']))"
              + "|`|[\"']");

  /** Names that may stand beside another; of Python 2 too, as the parser's grammar has them. */
  private static final Set<String> KEYWORDS =
      Set.of(
          "False",
          "None",
          "True",
          "and",
          "as",
          "assert",
          "async",
          "await",
          "break",
          "case",
          "class",
          "continue",
          "def",
          "del",
          "elif",
          "else",
          "except",
          "exec",
          "finally",
          "for",
          "from",
          "global",
          "if",
          "import",
          "in",
          "is",
          "lambda",
          "match",
          "nonlocal",
          "not",
          "or",
          "pass",
          "print",
          "raise",
          "return",
          "try",
          "type",
          "while",
          "with",
          "yield",
          "_");

  /** What a string may begin with, in any case of letters. */
  private static final Pattern PREFIX = Pattern.compile("(?i)[bfrtu]|[bft]r|r[bft]");

  private static final Pattern CODE = Pattern.compile("\\b(?:def|class|import)\\b|=");

  private LongProse() {}

  /** Where a text that has a long line shows that it is no Python; −1 if it does not, or not so. */
  static int in(String text) {
    return hasLongLine(text) ? notPython(text) : -1;
  }

  /** Whether there may be code in prose; true in doubt. */
  static boolean mayHoldCode(String prose) {
    return CODE.matcher(prose).find();
  }

  private static boolean hasLongLine(String text) {
    int start = 0;
    for (int end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
      if (end - start > LONG) return true;
      start = end + 1;
    }
    return text.length() - start > LONG;
  }

  /** The first of two names side by side, a name before a quote, or a backtick. */
  private static int notPython(String text) {
    Matcher token = TOKEN.matcher(text);
    while (token.find()) {
      String name = token.group(1);
      String next = token.group(2);
      boolean keyword = name != null && KEYWORDS.contains(name);
      boolean comment = text.charAt(token.start()) == '#';
      if (comment || (next != null && (keyword || KEYWORDS.contains(next)))) continue;
      boolean string =
          name == null
              ? text.charAt(token.start()) != '`'
              : next == null && (keyword || PREFIX.matcher(name).matches());
      return string ? -1 : token.start();
    }
    return -1;
  }
}
