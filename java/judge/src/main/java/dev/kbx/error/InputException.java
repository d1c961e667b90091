package dev.kbx.error;

import org.jspecify.annotations.Nullable;

/** An error that other input or other options correct. */
public non-sealed class InputException extends KbxException {
  private static final long serialVersionUID = 1;

  public InputException(String message) {
    this(message, null);
  }

  /**
   * An error because of a file, say.
   *
   * @param cause a full or broken disk makes it an error of the machine for whoever asks
   */
  public InputException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
