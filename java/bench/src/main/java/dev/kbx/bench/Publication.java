package dev.kbx.bench;

import dev.kbx.files.Resources;
import java.util.List;

/**
 * Where mechanisms of the corpus were published: a line of {@code publications.tsv}.
 *
 * @param key names it in {@code source:} of a header
 * @param title in Markdown
 * @param address URL
 */
record Publication(String key, String title, String address) {
  /** All, in the order of the file. */
  static final List<Publication> ALL =
      Resources.text(Publication.class, "publications.tsv").lines().map(Publication::read).toList();

  /** Whether there is one of that key. */
  static boolean isKnown(String key) {
    return ALL.stream().anyMatch(each -> each.key.equals(key));
  }

  /** The title as a link in Markdown. */
  String link() {
    return "[%s](%s)".formatted(title, address);
  }

  private static Publication read(String line) {
    String[] fields = line.split("\t", -1);
    return new Publication(fields[0], fields[1], fields[2]);
  }
}
