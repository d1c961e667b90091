package dev.kbx.check;

import dev.kbx.syntax.Place;

/**
 * One static rule. Each rule has a class, and tests for what it must find and must not find.
 *
 * <p>A rule rejects only what is certain. What may be honest is a flag, and the run decides.
 */
public interface Rule {
  RuleInfo info();

  /** Reports every place that breaks the rule. */
  void check(RuleContext context, Report report);

  /** Where a rule puts what it finds. */
  interface Report {
    /**
     * Takes one finding; the message says in one clause, with the source's names, what is wrong.
     */
    void found(Place place, String message);

    /**
     * Takes one that is only worth knowing, whatever the rule's severity; without severities it is
     * one like the others.
     */
    default void noted(Place place, String message) {
      found(place, message);
    }
  }
}
