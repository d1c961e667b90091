package dev.kbx.cli;

import dev.kbx.task.Task;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Kernels that methods begin with: {@code --from}. */
final class StartingKernels {
  private StartingKernels() {}

  /**
   * The kernel for each task: the file itself, or {@code Category/name.py} or {@code name.py} in a
   * folder.
   */
  static Function<Task, Optional<String>> of(@Nullable Path from, List<Task> selected) {
    if (from == null) return _ -> Optional.empty();
    if (Files.isRegularFile(from)) {
      if (selected.size() == 1) {
        String code = read(from);
        return _ -> Optional.of(code);
      }
      throw new UserError(
          "--from %s: one kernel for %d tasks; name one task with --tasks, or give a folder"
              .formatted(from, selected.size()));
    }
    if (!Files.isDirectory(from)) throw new UserError("--from %s: does not exist".formatted(from));
    if (selected.stream().noneMatch(task -> file(from, task).isPresent())) {
      throw new UserError(
          "--from %s: has no kernel of these tasks, as %s.py"
              .formatted(from, selected.getFirst().path()));
    }
    return task -> file(from, task).map(StartingKernels::read);
  }

  private static Optional<Path> file(Path folder, Task task) {
    Path nested = folder.resolve(task.path() + ".py");
    Path flat = folder.resolve(task.name() + ".py");
    if (Files.isRegularFile(nested)) return Optional.of(nested);
    return Files.isRegularFile(flat) ? Optional.of(flat) : Optional.empty();
  }

  private static String read(Path file) {
    try {
      return Files.readString(file, StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UserError("%s: cannot be read: %s".formatted(file, Reason.of(e)));
    }
  }
}
