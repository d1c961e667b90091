package dev.kbx.syntax;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Finds certain syntax errors without a grammar: brackets that do not match, strings that do not
 * end, characters outside the alphabet, two operands side by side, a compound statement without a
 * colon, wrong indentation.
 *
 * <p>It confirms errors that the parser found. The parser's grammar refuses a few valid constructs
 * ({@code return a, *[b] * 3}), and refusing an honest kernel is worse than leaving the decision to
 * the runner. Of indentation the parser accepts too much, so those errors need no confirmation.
 */
final class SyntaxErrorScanner {
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
          "class",
          "continue",
          "def",
          "del",
          "elif",
          "else",
          "except",
          "finally",
          "for",
          "from",
          "global",
          "if",
          "import",
          "in",
          "is",
          "lambda",
          "nonlocal",
          "not",
          "or",
          "pass",
          "raise",
          "return",
          "try",
          "while",
          "with",
          "yield");
  private static final Set<String> SOFT_KEYWORDS = Set.of("match", "case", "type");
  private static final Set<String> HEADERS =
      Set.of("class", "def", "elif", "else", "except", "finally", "for", "if", "try", "while");

  /** Letters; two today, and Python adds new prefixes. */
  private static final int LONGEST_PREFIX = 3;

  /** Nested f-string fields; Python allows 150. */
  private static final int MAX_FIELDS = 200;

  private static final String PUNCTUATION = "+-*/%@&|^~<>=.,:;";

  private enum Kind {
    WORD,
    SOFT,
    NUMBER,
    STRING,
    CLOSE,
    OTHER
  }

  private record Open(char bracket, int at) {}

  private final String text;
  private final Deque<Open> brackets = new ArrayDeque<>();
  private int at;
  private Kind previous = Kind.OTHER;
  private boolean lineStart = true;
  private int header = -1;
  private boolean colon;
  private final Indentation indentation = new Indentation();

  /** Where the line begins whose first token is awaited; -1 within a logical line. */
  private int margin;

  /** The last token is a colon outside of brackets. */
  private boolean opensBlock;

  /** A backslash among a line's blanks: how far Python takes it as indented is not modelled. */
  private boolean unmeasured;

  private @Nullable Finding finding;

  /**
   * An error.
   *
   * @param at the index of its character
   * @param alone whether it needs no confirmation by the parser
   */
  record Finding(int at, String message, boolean alone) {}

  private SyntaxErrorScanner(String text) {
    this.text = text;
  }

  /** The first error; null if there is none. */
  static @Nullable Finding check(String text) {
    SyntaxErrorScanner scanner = new SyntaxErrorScanner(text);
    while (scanner.finding == null && scanner.at < text.length()) scanner.next();
    if (scanner.finding == null) scanner.end();
    return scanner.finding;
  }

  private void fail(int where, String message) {
    if (finding == null) finding = new Finding(where, message, false);
  }

  private void end() {
    if (!brackets.isEmpty()) {
      // The outermost bracket: inner ones may be complete.
      Open open = brackets.getLast();
      fail(open.at, "'" + open.bracket + "' was never closed");
    }
    endStatement();
    badIndentation(indentation.end());
  }

  private void next() {
    char c = text.charAt(at);
    if (c == '\n' || c == '\r') newline();
    else if (c == ' ' || c == '\t' || c == '\f') at++;
    else if (c == '#') skipComment();
    else if (c == '\\') skipContinuation();
    else token(c);
  }

  private void token(char c) {
    if (margin >= 0 && c != '\ufeff') beginLine();
    if (finding != null) return;
    opensBlock = false;
    if (c == '"' || c == '\'') string(at);
    else if (c >= '0' && c <= '9') number();
    else if (isNamePart(text.codePointAt(at))) word();
    else punctuation(c);
  }

  private void beginLine() {
    if (!unmeasured) badIndentation(indentation.error(text.substring(margin, at)));
    margin = -1;
  }

  private void badIndentation(@Nullable String message) {
    if (finding == null && message != null && !unmeasured) {
      finding = new Finding(at, message, true);
    }
  }

  private void newline() {
    at++;
    if (!brackets.isEmpty()) return;
    if (margin < 0 && opensBlock) indentation.expectBlock();
    margin = at;
    endStatement();
  }

  private void endStatement() {
    if (header >= 0 && !colon) fail(header, "expected ':'");
    previous = Kind.OTHER;
    lineStart = true;
    header = -1;
    colon = false;
  }

  private void skipComment() {
    while (at < text.length() && text.charAt(at) != '\n' && text.charAt(at) != '\r') at++;
  }

  private void skipContinuation() {
    int next = at + 1;
    if (next < text.length() && text.charAt(next) == '\r') next++;
    if (next < text.length() && text.charAt(next) == '\n') next++;
    if (next == at + 1) fail(at, "unexpected character after line continuation character");
    if (margin >= 0) unmeasured = true;
    at = next;
  }

  private void string(int start) {
    skipString(start, 0);
    operand(Kind.STRING, start);
  }

  /** Skips a literal whose prefix begins at {@code start}, in that many fields of others. */
  private void skipString(int start, int fields) {
    String prefix = text.substring(start, at).toLowerCase(Locale.ROOT);
    boolean formatted = prefix.contains("f") || prefix.contains("t");
    String single = text.substring(at, at + 1);
    boolean triple = text.startsWith(single.repeat(3), at);
    String quote = triple ? single.repeat(3) : single;
    at += quote.length();
    while (finding == null && at < text.length()) {
      char c = text.charAt(at);
      if (text.startsWith(quote, at)) {
        at += quote.length();
        return;
      }
      if (c == '\\') skipEscape(formatted, prefix.contains("r"));
      else if (formatted && text.startsWith("{{", at)) at += 2;
      else if (formatted && c == '{') skipField(fields + 1);
      else if (!triple && (c == '\n' || c == '\r')) break;
      else at++;
    }
    fail(start, triple ? "unterminated triple-quoted string" : "unterminated string");
  }

  private void skipEscape(boolean formatted, boolean raw) {
    int next = at + 1;
    boolean brace = text.startsWith("{", next) || text.startsWith("}", next);
    if (formatted && !raw && text.startsWith("N{", next)) {
      int close = text.indexOf('}', next);
      at = close < 0 ? text.length() : close + 1;
    } else if (formatted && brace) {
      at = next;
    } else {
      at = next + (text.startsWith("\r\n", next) ? 2 : 1);
    }
  }

  /** Skips {@code {expression:format}}; since 3.12 any literal may stand in the expression. */
  private void skipField(int fields) {
    if (fields > MAX_FIELDS) fail(at, "too many nested f-strings");
    int depth = 0;
    at++;
    while (finding == null && at < text.length()) {
      char c = text.charAt(at);
      if (c == '}' && depth == 0) {
        at++;
        return;
      }
      if (c == '"' || c == '\'' || isNamePart(text.codePointAt(at))) {
        skipOperand(fields);
      } else if (c == '#') {
        skipComment();
      } else if (c == ':' && depth == 0) {
        skipFormat(fields);
      } else {
        if ("([{".indexOf(c) >= 0) depth++;
        if (")]}".indexOf(c) >= 0) depth--;
        at++;
      }
    }
  }

  /** Skips a name, a number or a literal. */
  private void skipOperand(int fields) {
    int start = at;
    String word = skipName();
    if (at < text.length() && (text.charAt(at) == '"' || text.charAt(at) == '\'')) {
      skipString(isPrefix(word) ? start : at, fields);
    }
  }

  /** Up to the brace that closes the field; quotes mean nothing here. */
  private void skipFormat(int fields) {
    while (finding == null && at < text.length() && text.charAt(at) != '}') {
      if (text.charAt(at) == '{') skipField(fields + 1);
      else at++;
    }
  }

  private void number() {
    int start = at;
    boolean radix =
        text.charAt(at) == '0' && at + 1 < text.length() && isRadix(text.charAt(at + 1));
    boolean hex = radix && (text.charAt(at + 1) == 'x' || text.charAt(at + 1) == 'X');
    if (radix) at += 2;
    skipDigits(hex);
    // The exponent's e needs a digit after it: "1else" is a number and a keyword.
    if (!radix && at + 1 < text.length() && "eE".indexOf(text.charAt(at)) >= 0) {
      int digits = at + ("+-".indexOf(text.charAt(at + 1)) >= 0 ? 2 : 1);
      if (digits < text.length() && isDigit(text.charAt(digits), false)) {
        at = digits;
        skipDigits(false);
      }
    }
    if (at < text.length() && "jJ".indexOf(text.charAt(at)) >= 0) at++;
    operand(Kind.NUMBER, start);
    // In "1.0.hex()" the last dot is the attribute's.
    if (text.charAt(at - 1) == '.') previous = Kind.OTHER;
  }

  private void skipDigits(boolean hex) {
    while (at < text.length() && isDigit(text.charAt(at), hex)) at++;
    // In "1e9.__format__" the underscores are the attribute's.
    while (text.charAt(at - 1) == '_') at--;
  }

  private static boolean isRadix(char c) {
    return "xXoObB".indexOf(c) >= 0;
  }

  private static boolean isDigit(char c, boolean hex) {
    return c == '_' || c == '.' || (c < 128 && Character.digit(c, hex ? 16 : 10) >= 0);
  }

  private void word() {
    int start = at;
    String word = skipName();
    boolean quoted = at < text.length() && (text.charAt(at) == '"' || text.charAt(at) == '\'');
    if (quoted && isPrefix(word)) {
      string(start);
      return;
    }
    if (lineStart && brackets.isEmpty() && HEADERS.contains(word)) header = start;
    if (KEYWORDS.contains(word)) {
      previous = Kind.OTHER;
      // `async def` and `async for` are headers as well.
      lineStart = lineStart && word.equals("async");
    } else if (lineStart && SOFT_KEYWORDS.contains(word)) {
      previous = Kind.SOFT;
      lineStart = false;
    } else {
      operand(Kind.WORD, start);
    }
  }

  private String skipName() {
    int start = at;
    while (at < text.length() && isNamePart(text.codePointAt(at))) {
      at += Character.charCount(text.codePointAt(at));
    }
    return text.substring(start, at);
  }

  private static boolean isPrefix(String word) {
    return word.length() <= LONGEST_PREFIX
        && !KEYWORDS.contains(word)
        && word.chars().allMatch(Character::isLetter);
  }

  private void operand(Kind kind, int start) {
    boolean side = previous == Kind.WORD || previous == Kind.NUMBER || previous == Kind.CLOSE;
    boolean strings = previous == Kind.STRING && kind == Kind.STRING;
    if (side || (previous == Kind.STRING && !strings)) fail(start, "invalid syntax");
    previous = kind;
    lineStart = false;
  }

  private void punctuation(char c) {
    if ("([{".indexOf(c) >= 0) {
      brackets.push(new Open(c, at));
      previous = Kind.OTHER;
    } else if (")]}".indexOf(c) >= 0) {
      close(c);
    } else if (PUNCTUATION.indexOf(c) >= 0 || (c == '!' && text.startsWith("!=", at))) {
      previous = Kind.OTHER;
      if (c == '!') at++;
      if (brackets.isEmpty() && c == ':') {
        colon = true;
        opensBlock = true;
      }
      if (brackets.isEmpty() && c == ';') endStatement();
    } else if (c != '\ufeff' || at > 0) {
      fail(at, "invalid character " + shown(text.codePointAt(at)));
    }
    lineStart = brackets.isEmpty() && (c == ';' || c == ':' || c == '\ufeff');
    at++;
  }

  private void close(char c) {
    Open open = brackets.poll();
    if (open == null) fail(at, "unmatched '" + c + "'");
    else if ("([{".indexOf(open.bracket) != ")]}".indexOf(c)) {
      fail(at, "'" + c + "' does not match '" + open.bracket + "'");
    }
    previous = Kind.CLOSE;
  }

  private static boolean isNamePart(int c) {
    return c == '_' || Character.isLetterOrDigit(c) || (c > 127 && isUnusualNamePart(c));
  }

  /** Combining marks and other characters that identifiers may contain. */
  private static boolean isUnusualNamePart(int c) {
    return switch (Character.getType(c)) {
      case Character.NON_SPACING_MARK,
          Character.COMBINING_SPACING_MARK,
          Character.ENCLOSING_MARK,
          Character.CONNECTOR_PUNCTUATION,
          Character.LETTER_NUMBER,
          Character.OTHER_NUMBER ->
          true;
      default -> c == 0xb7 || c == 0x387 || c == 0x2118 || c == 0x212e;
    };
  }

  private static String shown(int c) {
    return Character.isISOControl(c) || Character.isWhitespace(c)
        ? "U+%04X".formatted(c)
        : "'" + Character.toString(c) + "' (U+%04X)".formatted(c);
  }
}
