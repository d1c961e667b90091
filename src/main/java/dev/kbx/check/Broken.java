package dev.kbx.check;

import dev.kbx.syntax.Place;
import dev.kbx.verdict.Status;

/**
 * Why source cannot be a candidate, whatever the rules.
 *
 * @param status {@code NO_CODE}, {@code SYNTAX_ERROR} or {@code NO_ENTRY}
 */
public record Broken(Status status, Place place, String message) {
  /** Where, from 1. */
  public int line() {
    return place.line();
  }
}
