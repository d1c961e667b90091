package dev.kbx.files;

import dev.kbx.error.InputException;
import java.nio.file.Path;

/** A file of an earlier command cannot be read or has other content. */
public final class UnreadableException extends InputException {
  private static final long serialVersionUID = 1;

  /** Says what is wrong with {@code file}. */
  public UnreadableException(Path file, String why, Exception cause) {
    super(file + ": " + why, cause);
  }
}
