package dev.kbx.candidate;

import org.jspecify.annotations.Nullable;

/**
 * A file or row that could not be used: what, where, what to do. The rest is judged.
 *
 * @param file path as the user named it
 * @param line line of a JSONL file; null for other files
 */
public record Problem(String file, @Nullable Integer line, String message, Kind kind) {
  /** Kinds of problems, which commands treat differently. */
  public enum Kind {
    /** A named path does not exist or is not readable as a source. */
    ABSENT,
    /** A whole file or folder could not be read. */
    UNREADABLE,
    /** What was read is not a candidate here. */
    UNUSABLE
  }

  /** What was read is not a candidate here. */
  public Problem(String file, @Nullable Integer line, String message) {
    this(file, line, message, Kind.UNUSABLE);
  }

  @Override
  public String toString() {
    return (line == null ? file : file + ":" + line) + ": " + message;
  }
}
