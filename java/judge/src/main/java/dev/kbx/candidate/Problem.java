package dev.kbx.candidate;

import java.nio.file.Path;
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

  /** Whether a candidate's origin is this place: the file or line, or what is in that file. */
  public boolean covers(String origin) {
    String place = place();
    return origin.equals(place)
        || origin.startsWith(place + ":")
        || Path.of(origin).startsWith(Path.of(place));
  }

  private String place() {
    return line == null ? file : file + ":" + line;
  }

  @Override
  public String toString() {
    return place() + ": " + message;
  }
}
