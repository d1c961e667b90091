package dev.kbx.cli;

import dev.kbx.task.Suite;
import dev.kbx.task.Task;
import dev.kbx.verdict.Json;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A large file of predictions: variations of the suite's kernels. */
final class SimulatedCandidates {
  private SimulatedCandidates() {}

  /** Writes a file with {@code count} rows, all with different sources. */
  static void write(Path file, Suite suite, int count) throws IOException {
    List<Task> tasks = suite.tasks().stream().filter(task -> Files.exists(task.kernel())).toList();
    if (tasks.isEmpty()) throw new UserError(suite.name() + " has no kernels to vary");
    Map<Task, String> kernels = new LinkedHashMap<>();
    for (Task task : tasks) kernels.put(task, Files.readString(task.kernel()));
    try (BufferedWriter out = Files.newBufferedWriter(file)) {
      for (int i = 0; i < count; i++) {
        Task task = tasks.get(i % tasks.size());
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("file", task.path() + ".py");
        row.put("sample", i / tasks.size());
        row.put("predict", kernels.get(task) + "\n\nVARIANT = " + i + "\n");
        out.write(Json.mapper().writeValueAsString(row));
        out.newLine();
      }
    }
  }
}
