package dev.kbx.check;

import dev.kbx.error.InputException;
import dev.kbx.task.Spelling;
import java.util.List;

/** An id that no rule has. The message is one line and names similar ids. */
public final class UnknownRule extends InputException {
  private static final long serialVersionUID = 1;

  private UnknownRule(String message) {
    super(message);
  }

  static UnknownRule of(String id, List<String> known) {
    List<String> close = Spelling.close(id, known);
    return new UnknownRule(
        "no rule '"
            + id
            + "'"
            + (close.isEmpty()
                ? "; 'kbx check --rules' lists all"
                : "; did you mean " + String.join(" or ", close) + "?"));
  }
}
