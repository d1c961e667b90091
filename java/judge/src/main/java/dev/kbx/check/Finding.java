package dev.kbx.check;

import dev.kbx.syntax.Place;

/**
 * A finding of a rule.
 *
 * @param rule the rule's id
 * @param message what is wrong, in one clause
 * @param advice what to do instead
 */
public record Finding(String rule, Severity severity, Place place, String message, String advice) {

  /** {@code line 12: message; instead: advice}: a rejection in one line. */
  public String sentence() {
    return "line %d: %s; instead: %s".formatted(place.line(), message, advice);
  }
}
