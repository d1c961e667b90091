package dev.kbx.report;

import java.nio.file.Path;

/** A file of an earlier command cannot be read or has other content. */
public final class UnreadableException extends RuntimeException {
  private static final long serialVersionUID = 1;

  UnreadableException(Path file, String why, Exception cause) {
    super(file + ": " + why, cause);
  }
}
