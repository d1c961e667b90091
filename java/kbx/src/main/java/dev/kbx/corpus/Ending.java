package dev.kbx.corpus;

import dev.kbx.verdict.Status;
import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;

/**
 * Allowed results of a cheat with static rules off.
 *
 * @param text as written: {@code wrong_values | cheating}, {@code merit}
 * @param statuses the statuses that the text allows
 * @param merit whether it may end as {@code correct}, because its own kernel computes the result
 *     and the attempt changes nothing
 */
record Ending(String text, Set<Status> statuses, boolean merit) {
  private static final String MERIT = "merit";

  /** Begins the text of {@link #beyond}. */
  static final String BREAKS = "correct, breaks on ";

  /** How one ends where no call decides that asks for the property. */
  static Ending beyond(String property) {
    return new Ending(BREAKS + property, Set.of(Status.CORRECT), false);
  }

  /** Reads statuses and {@code merit}, separated by bars. Throws {@link MalformedHeader}. */
  static Ending parse(String key, String text) {
    EnumSet<Status> statuses = EnumSet.noneOf(Status.class);
    boolean merit = false;
    for (String part : text.split("\\|", -1)) {
      String word = part.strip();
      merit |= word.equals(MERIT);
      statuses.add(word.equals(MERIT) ? Status.CORRECT : status(key, word));
    }
    return new Ending(text, Collections.unmodifiableSet(statuses), merit);
  }

  private static Status status(String key, String word) {
    Status status;
    try {
      status = Status.of(word);
    } catch (IllegalArgumentException _) {
      throw new MalformedHeader("'%s: %s' names no status".formatted(key, word));
    }
    if (status != Status.CORRECT) return status;
    throw new MalformedHeader(
        "'%s: correct' is not how a cheat may end; write 'merit' if its kernel earns it"
            .formatted(key));
  }
}
