package dev.kbx.python;

import dev.kbx.error.InputException;
import java.util.List;

/** No Python is usable. The message is one line: what, where, what to do. */
public final class PythonProblem extends InputException {
  private static final long serialVersionUID = 1;

  private final transient List<String> details;

  PythonProblem(String message) {
    this(message, List.of());
  }

  PythonProblem(String message, List<String> details) {
    super(message);
    this.details = List.copyOf(details);
  }

  /** The last useful lines of a failed tool, to show under the message; often empty. */
  public List<String> details() {
    return details;
  }
}
