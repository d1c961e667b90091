package dev.kbx.error;

import org.jspecify.annotations.Nullable;

/** An error that is told to people. The message is one line: what, where, what to do. */
public abstract sealed class KbxException extends RuntimeException
    permits InputException, EnvironmentException {
  private static final long serialVersionUID = 1;

  KbxException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
