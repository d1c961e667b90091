package dev.kbx.candidate;

import org.jspecify.annotations.Nullable;

/**
 * A file or row that could not be used: what, where, what to do. The rest is judged.
 *
 * @param file path as the user named it
 * @param line line of a JSONL file, where there is one
 */
public record Problem(String file, @Nullable Integer line, String message, Kind kind) {
  /** What a command makes of it. */
  public enum Kind {
    /** What the user named is nothing that can be read. */
    ABSENT,
    /** A whole file or folder could not be read. */
    UNREADABLE,
    /** What was read is no candidate here. */
    UNUSABLE
  }

  /** What was read is no candidate here. */
  public Problem(String file, @Nullable Integer line, String message) {
    this(file, line, message, Kind.UNUSABLE);
  }

  @Override
  public String toString() {
    return (line == null ? file : file + ":" + line) + ": " + message;
  }
}
