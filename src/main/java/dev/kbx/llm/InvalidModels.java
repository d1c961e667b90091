package dev.kbx.llm;

/**
 * A configuration of models, or a name of one, that cannot be used. The message is one line: what,
 * where, what to do.
 */
public final class InvalidModels extends RuntimeException {
  private static final long serialVersionUID = 1;

  InvalidModels(String message) {
    super(message);
  }
}
