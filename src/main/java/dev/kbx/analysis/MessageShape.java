package dev.kbx.analysis;

import java.util.List;
import java.util.regex.Pattern;

/**
 * What messages about equal mistakes have in common: without the call, and with placeholders for
 * numbers, names and paths. {@code shape=(37,), standard values: 3 wrong elements, first output[0]:
 * expected 0.5, got nan} gives {@code # wrong elements, first output[#]: expected #, got nan}.
 */
final class MessageShape {
  /** Characters of a message that are looked at, and of a shape. */
  private static final int LOOKED_AT = 600;

  private static final int LONGEST = 160;

  /**
   * @param needed one of these characters, without which nothing matches: most messages lack those
   *     of most patterns, and looking for them takes a fraction of the time
   */
  private record Replacement(String needed, Pattern pattern, String by) {
    static Replacement of(String needed, String pattern, String by) {
      return new Replacement(needed, Pattern.compile(pattern), by);
    }

    String in(String text) {
      boolean may = needed.chars().anyMatch(character -> text.indexOf(character) >= 0);
      return may ? pattern.matcher(text).replaceAll(by) : text;
    }
  }

  private static final List<Replacement> REPLACEMENTS =
      List.of(
          Replacement.of(":", "^[^:]{0,300}? values: ", ""),
          Replacement.of(" ", "^[^:]{0,300}? values (?=took)", "a call "),
          Replacement.of("\t\n\u000B\f\r ", "\\s+", " "),
          Replacement.of(
              "'\"`", "(?<![A-Za-z])'[^']{1,200}'|\"[^\"]{1,200}\"|`[^`]{1,200}`", "'…'"),
          Replacement.of("/", "(?<![\\w.])(?:~|\\.{1,2})?(?:/[\\w.+-]+){2,}", "PATH"),
          Replacement.of("x", "\\b0x[0-9a-fA-F]+\\b", "#"),
          Replacement.of(
              "0123456789", "(?<![A-Za-z_0-9])[-+]?\\d+(?:\\.\\d*)?(?:[eE][-+]?\\d+)?", "#"),
          Replacement.of("#", "#(?:, ?#)+", "#"),
          Replacement.of("#", "\\(#,\\)", "(#)"),
          Replacement.of("#", "# wrong element,", "# wrong elements,"));

  private MessageShape() {}

  /** The shape of a message; empty for an empty one. */
  static String of(String message) {
    String text = message.length() > LOOKED_AT ? message.substring(0, LOOKED_AT) : message;
    for (Replacement each : REPLACEMENTS) text = each.in(text);
    text = text.strip();
    return text.length() > LONGEST ? text.substring(0, LONGEST - 1) + "…" : text;
  }
}
