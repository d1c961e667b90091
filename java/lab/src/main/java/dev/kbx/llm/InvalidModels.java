package dev.kbx.llm;

/**
 * A configuration file, or a name of a model, that cannot be used. The message is one line: what,
 * where, what to do.
 */
public final class InvalidModels extends RuntimeException {
  private static final long serialVersionUID = 1;

  InvalidModels(String message) {
    super(message);
  }
}
