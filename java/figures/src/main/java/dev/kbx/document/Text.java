package dev.kbx.document;

import static java.util.Objects.requireNonNullElse;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Text measured in terminal columns. Text of a candidate must pass {@link #clean} first, as it may
 * contain escape sequences that control the terminal.
 */
public final class Text {
  private Text() {}

  /** One line without control, format and unassigned characters; empty for null. */
  public static String clean(@Nullable String text) {
    var line = new StringBuilder();
    requireNonNullElse(text, "")
        .codePoints()
        .map(c -> isPrintable(c) ? c : ' ')
        .filter(c -> c != ' ' || (!line.isEmpty() && line.charAt(line.length() - 1) != ' '))
        .forEach(line::appendCodePoint);
    return line.toString().stripTrailing();
  }

  /**
   * A text with characters that control a terminal or reorder text as {@code \\u001b}. Ends of
   * lines and tabs stay.
   */
  public static String visible(String text) {
    if (text.codePoints().noneMatch(Text::controls)) return text;
    StringBuilder visible = new StringBuilder();
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      boolean ends = c == '\r' && i + 1 < text.length() && text.charAt(i + 1) == '\n';
      if (controls(c) && !ends) visible.append("\\u%04x".formatted((int) c));
      else visible.append(c);
    }
    return visible.toString();
  }

  /** Whether a terminal obeys the character or shows text after it in another order. */
  private static boolean controls(int c) {
    if (Character.getType(c) == Character.CONTROL) return c != '\n' && c != '\t';
    return c == 0x061c
        || c == 0x200e
        || c == 0x200f
        || (c >= 0x2028 && c <= 0x202e) // Ends of lines and paragraphs, then overrides.
        || (c >= 0x2066 && c <= 0x206f);
  }

  /** Neither control, format or unassigned characters, nor spaces. */
  public static boolean isPrintable(int c) {
    return switch (Character.getType(c)) {
      case Character.CONTROL,
          Character.FORMAT,
          Character.SURROGATE,
          Character.UNASSIGNED,
          Character.PRIVATE_USE,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR,
          Character.SPACE_SEPARATOR ->
          false;
      default -> true;
    };
  }

  /** Columns of the text on a terminal: two for East Asian wide characters and emoji. */
  public static int columns(String text) {
    return text.codePoints().map(Text::columns).sum();
  }

  private static int columns(int c) {
    return switch (Character.getType(c)) {
      case Character.NON_SPACING_MARK, Character.ENCLOSING_MARK -> 0;
      default -> isWide(c) ? 2 : 1;
    };
  }

  private static boolean isWide(int c) {
    return Character.isIdeographic(c)
        || Character.isEmojiPresentation(c)
        || (c >= 0x1100 && c <= 0x115F) // Hangul syllable openers
        || (c >= 0x3000 && c <= 0x30FF) // CJK punctuation, kana
        || (c >= 0xAC00 && c <= 0xD7A3) // Hangul syllables
        || (c >= 0xFF00 && c <= 0xFF60); // full-width forms
  }

  /** The text in at most that many columns, cut with an ellipsis. */
  public static String cut(String text, int columns) {
    if (columns(text) <= columns) return text;
    return head(text, columns - 1).stripTrailing() + "…";
  }

  /** The text in lines of at most that many columns, broken between words; the last line is cut. */
  public static List<String> wrap(String text, int columns, int lines) {
    List<String> parts = new ArrayList<>();
    String rest = text;
    while (parts.size() < lines - 1 && columns(rest) > columns) {
      String line = head(rest, columns);
      int space = line.lastIndexOf(' ');
      if (space > 0 && rest.charAt(line.length()) != ' ') line = line.substring(0, space);
      parts.add(line.stripTrailing());
      rest = rest.substring(line.length()).stripLeading();
    }
    parts.add(cut(rest, columns));
    return parts;
  }

  /** The text, cut in the middle so that more of the end is left: the file name of a path. */
  public static String cutMiddle(String text, int columns) {
    if (columns(text) <= columns) return text;
    int head = (columns - 1) / 3;
    String reversed = new StringBuilder(text).reverse().toString();
    String tail = new StringBuilder(head(reversed, columns - 1 - head)).reverse().toString();
    return head(text, head) + "…" + tail;
  }

  private static String head(String text, int columns) {
    var head = new StringBuilder();
    int used = 0;
    for (int c : text.codePoints().toArray()) {
      used += columns(c);
      if (used > columns) break;
      head.appendCodePoint(c);
    }
    return head.toString();
  }

  static String left(String text, int columns) {
    return text + " ".repeat(Math.max(0, columns - columns(text)));
  }

  public static String right(String text, int columns) {
    return " ".repeat(Math.max(0, columns - columns(text))) + text;
  }
}
