package dev.kbx.task;

import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/** Finds known names similar to a mistyped one. */
public final class Spelling {
  private static final int SUGGESTIONS = 3;

  /** Maximum length of a name. */
  private static final int LONGEST = 100;

  private Spelling() {}

  private record Close(String name, int distance) {}

  /** The nearest known names, nearest first; only a few, and only similar ones. */
  public static List<String> close(String wanted, Collection<String> known) {
    String name = wanted.toLowerCase(Locale.ROOT);
    if (name.isEmpty() || name.length() > LONGEST) return List.of();
    int reach = name.length() <= 3 ? 1 : Math.max(2, name.length() / 3);
    return known.stream()
        .distinct()
        .map(each -> new Close(each, distance(name, each.toLowerCase(Locale.ROOT))))
        .filter(each -> each.distance <= reach)
        .sorted(Comparator.comparingInt(Close::distance).thenComparing(Close::name))
        .limit(SUGGESTIONS)
        .map(Close::name)
        .toList();
  }

  /** Levenshtein's edit distance. */
  private static int distance(String a, String b) {
    int[] previous = new int[b.length() + 1];
    int[] current = new int[b.length() + 1];
    for (int j = 0; j <= b.length(); j++) previous[j] = j;
    for (int i = 1; i <= a.length(); i++) {
      current[0] = i;
      for (int j = 1; j <= b.length(); j++) {
        int change = a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1;
        current[j] = Math.min(previous[j - 1] + change, 1 + Math.min(previous[j], current[j - 1]));
      }
      int[] swap = previous;
      previous = current;
      current = swap;
    }
    return previous[b.length()];
  }
}
