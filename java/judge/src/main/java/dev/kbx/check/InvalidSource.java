package dev.kbx.check;

import dev.kbx.syntax.Place;
import dev.kbx.verdict.Status;

/**
 * Why source cannot be a candidate, whichever rules are on.
 *
 * @param status {@code NO_CODE}, {@code SYNTAX_ERROR} or {@code NO_ENTRY}
 */
public record InvalidSource(Status status, Place place, String message) {
  /** Characters of a source line that a message quotes. */
  private static final int LONGEST = 200;

  /** The message in one line, with line number and source line of a syntax error. */
  public String sentence() {
    if (status != Status.SYNTAX_ERROR) return message;
    String line = place.text().strip();
    String shown = line.length() <= LONGEST ? line : line.substring(0, LONGEST) + "…";
    return "line %d: %s: %s".formatted(place.line(), message, shown);
  }
}
