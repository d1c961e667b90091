package dev.kbx.check;

import dev.kbx.program.Program;
import dev.kbx.task.Task;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What rules look at: a program, and the task it answers where that is known. */
public record Subject(Program program, @Nullable Task knownTask) {
  /** Empty for a file that is checked by itself. */
  public Optional<Task> task() {
    return Optional.ofNullable(knownTask);
  }
}
