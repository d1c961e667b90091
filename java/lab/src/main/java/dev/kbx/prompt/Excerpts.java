package dev.kbx.prompt;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Cuts text to the length that a prompt has for it. */
final class Excerpts {
  private Excerpts() {}

  /** The text, or its start and end with a note of how much is left out between them. */
  static String cut(String text, int limit) {
    if (text.length() <= limit) return text;
    int head = boundary(text, limit / 2);
    int tail = boundary(text, text.length() - limit / 2);
    return "%s\n[... %d characters left out ...]\n%s"
        .formatted(text.substring(0, head), tail - head, text.substring(tail));
  }

  /** A place that does not split a surrogate pair. */
  private static int boundary(String text, int at) {
    return at > 0 && Character.isLowSurrogate(text.charAt(at)) ? at - 1 : at;
  }

  /** The first items of a list; empty for null. */
  static <T> List<T> first(@Nullable List<T> items, int most) {
    return items == null ? List.of() : items.subList(0, Math.min(most, items.size()));
  }

  /** The text, or nothing. */
  static String orEmpty(@Nullable String text) {
    return text == null ? "" : text;
  }

  /** Source in a fence that is longer than any within it. */
  static Map<String, String> fenced(String code) {
    String fence = "```";
    while (code.contains(fence)) fence += "`";
    String ended = code.isEmpty() || code.endsWith("\n") ? code : code + "\n";
    return Map.of("fence", fence, "code", ended);
  }
}
