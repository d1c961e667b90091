package dev.kbx.check;

import dev.kbx.syntax.Place;

/**
 * One static rule. Each rule has a class, and tests for what it must find and must not find.
 *
 * <p>A rule rejects only what is certain. What may be honest is a flag, and the run decides.
 */
interface Rule {
  RuleInfo info();

  /**
   * Whether the rule is about who computes, and not about deceit or danger: the candidate is
   * refused, but may be run to tell what the published rules, which do not ask that, say of it.
   * Where others may compute a part of the result, what it finds is a flag.
   */
  default boolean policy() {
    return false;
  }

  /** Reports every place that breaks the rule. */
  void check(RuleContext context, Report report);

  /** Receives the findings of a rule. */
  interface Report {
    /** Reports a finding; the message is one clause with names of the source. */
    void found(Place place, String message);

    /** Reports a finding with severity {@link Severity#NOTE}, whatever the rule's own. */
    default void noted(Place place, String message) {
      found(place, message);
    }
  }
}
