package dev.kbx.check;

import java.util.Comparator;
import java.util.List;
import java.util.Set;

/** The rules that are switched on, in the order of their ids. */
public final class Rules {
  private static final List<Rule> ALL = List.of();

  private final List<Rule> active;

  private Rules(List<Rule> rules) {
    active = rules.stream().sorted(Comparator.comparing(rule -> rule.about().id())).toList();
  }

  /** Every rule there is. */
  public static Rules all() {
    return new Rules(ALL);
  }

  /**
   * These rules without some, by id. Throws IllegalArgumentException for an id that is no rule's.
   */
  public Rules without(Set<String> ids) {
    for (String id : ids) {
      if (ALL.stream().noneMatch(rule -> rule.about().id().equals(id))) {
        throw new IllegalArgumentException("there is no rule '" + id + "'");
      }
    }
    return new Rules(active.stream().filter(rule -> !ids.contains(rule.about().id())).toList());
  }

  public List<Rule> list() {
    return active;
  }

  /** What these rules find, in the order of places. */
  List<Finding> check(Subject subject) {
    Findings found = new Findings();
    for (Rule rule : active) {
      About about = rule.about();
      rule.check(
          subject,
          (place, message) ->
              found.add(new Finding(about.id(), about.severity(), place, message, about.advice())));
    }
    return found.inOrder();
  }
}
