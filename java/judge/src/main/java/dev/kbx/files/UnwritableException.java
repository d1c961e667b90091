package dev.kbx.files;

import dev.kbx.error.EnvironmentException;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;

/**
 * A result file or its folder cannot be written. The message names the file and the cause ({@code
 * Permission denied}, {@code No space left on device}).
 */
public final class UnwritableException extends EnvironmentException {
  private static final long serialVersionUID = 1;

  private static final String FULL = "No space left on device";

  public UnwritableException(Path file, IOException cause) {
    super("cannot write " + file + ": " + reason(cause), cause);
  }

  /** Work on a file. */
  public interface Work {
    void run() throws IOException;
  }

  /** Does some work whose failure is that a file cannot be written. */
  public static void naming(Path file, Work work) {
    try {
      work.run();
    } catch (IOException e) {
      throw new UnwritableException(file, e);
    }
  }

  private static String reason(IOException cause) {
    return switch (cause) {
      case AccessDeniedException _ -> "Permission denied";
      case NoSuchFileException _ -> "No such folder";
      case FileAlreadyExistsException _, NotDirectoryException _ -> "Not a folder";
      case IOException e when String.valueOf(e.getMessage()).contains(FULL) ->
          FULL + "; free some, then run again: eval, run and generate go on with --resume";
      case FileSystemException e when e.getReason() != null -> e.getReason();
      default -> cause.getMessage() == null ? cause.toString() : cause.getMessage();
    };
  }
}
