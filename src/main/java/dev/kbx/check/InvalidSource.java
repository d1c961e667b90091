package dev.kbx.check;

import dev.kbx.syntax.Place;
import dev.kbx.verdict.Status;

/**
 * Why source cannot be a candidate, whichever rules are on.
 *
 * @param status {@code NO_CODE}, {@code SYNTAX_ERROR} or {@code NO_ENTRY}
 */
public record InvalidSource(Status status, Place place, String message) {
  /** A line of source in a sentence is cut to as many characters: one may be a megabyte. */
  private static final int LONGEST = 200;

  /** All of it in one line: what is wrong, and where that is a line of the source. */
  public String sentence() {
    if (status != Status.SYNTAX_ERROR) return message;
    String line = place.text().strip();
    String shown = line.length() <= LONGEST ? line : line.substring(0, LONGEST) + "…";
    return "line %d: %s: %s".formatted(place.line(), message, shown);
  }
}
