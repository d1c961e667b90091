package dev.kbx.files;

import java.nio.file.Path;

/** A file of an earlier command cannot be read or has other content. */
public final class UnreadableException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** Says what is wrong with {@code file}. */
  public UnreadableException(Path file, String why, Exception cause) {
    super(file + ": " + why, cause);
  }
}
