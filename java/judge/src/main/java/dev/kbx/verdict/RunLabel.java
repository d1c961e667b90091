package dev.kbx.verdict;

import org.jspecify.annotations.Nullable;

/**
 * What a user calls a run, and what there is to say of it. Both may change at any time: nothing
 * depends on them.
 *
 * @param name one line of 1 to {@value #NAME} characters; null for none
 * @param note text of 1 to {@value #NOTE} characters; null for none
 */
public record RunLabel(@Nullable String name, @Nullable String note) {
  /** Maximum characters of a name. */
  public static final int NAME = 100;

  /** Maximum characters of a note. */
  public static final int NOTE = 2_000;

  /** Neither. */
  public static final RunLabel NONE = new RunLabel(null, null);

  /**
   * Strips both; an empty text is none.
   *
   * @throws IllegalArgumentException if one is too long or no plain text, or a name has several
   *     lines
   */
  public RunLabel {
    name = stripped(name);
    note = stripped(note);
    if (name != null && !isPlain(name, "")) {
      throw new IllegalArgumentException("is not one line of plain text");
    }
    if (note != null && !isPlain(note, "\t\n\r")) {
      throw new IllegalArgumentException("is not plain text");
    }
    if (name != null && name.length() > NAME) {
      throw new IllegalArgumentException("has more than %d characters".formatted(NAME));
    }
    if (note != null && note.length() > NOTE) {
      throw new IllegalArgumentException("has more than %,d characters".formatted(NOTE));
    }
  }

  /** Whether no store and no page stumbles over it. */
  private static boolean isPlain(String text, String allowed) {
    return text.codePoints()
        .allMatch(c ->
            allowed.indexOf(c) >= 0
                || (!Character.isISOControl(c) && Character.getType(c) != Character.SURROGATE));
  }

  private static @Nullable String stripped(@Nullable String text) {
    return text == null || text.isBlank() ? null : text.strip();
  }
}
