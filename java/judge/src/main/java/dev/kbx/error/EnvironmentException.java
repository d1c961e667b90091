package dev.kbx.error;

import org.jspecify.annotations.Nullable;

/** The machine, a device, a network, a provider or a database is in no state to go on. */
public non-sealed class EnvironmentException extends KbxException {
  private static final long serialVersionUID = 1;

  public EnvironmentException(String message) {
    this(message, null);
  }

  public EnvironmentException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
