package dev.kbx.task;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * A task file that cannot be used; the rest of its suite can.
 *
 * @param category folder it lies in
 * @param name the task's name: the file's without {@code .py}
 * @param line line of the error, if it is one place
 * @param message what is wrong and what is expected
 */
public record BrokenTask(
    String category, String name, Path file, @Nullable Integer line, String message) {
  @Override
  public String toString() {
    return (line == null ? file : file + ":" + line) + ": " + message;
  }
}
