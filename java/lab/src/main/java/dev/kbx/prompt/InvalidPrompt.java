package dev.kbx.prompt;

/**
 * A prompt file that is missing or cannot be used; the message is one line that says what to do.
 */
public final class InvalidPrompt extends RuntimeException {
  private static final long serialVersionUID = 1L;

  InvalidPrompt(String message) {
    super(message);
  }
}
