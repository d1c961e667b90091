package dev.kbx.published;

import dev.kbx.task.Task;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * KernelBench-X's {@code metrics.json}, an object by task; {@code summary.json} beside it names the
 * method.
 */
final class MetricsReader implements PublishedReader {
  private static final Pattern NAME = Pattern.compile("metrics(\\..*)?\\.json");

  private final Found found;

  MetricsReader(Found found) {
    this.found = found;
  }

  @Override
  public void read(Path path) {
    List<Path> files = JsonFiles.files(path, name -> NAME.matcher(name).matches(), found);
    for (Path file : files) {
      String method = found.given().method() == null ? method(file) : found.given().method();
      Set<Task> seen = new HashSet<>();
      JsonFiles.entries(
          file, found, (key, row, line) -> read(file.toString(), key, row, line, method, seen));
    }
  }

  private static @Nullable String method(Path metrics) {
    String name = metrics.getFileName().toString().replaceFirst("metrics", "summary");
    JsonNode summary = JsonFiles.document(metrics.resolveSibling(name));
    return summary == null ? null : Fields.text(summary, "method");
  }

  private void read(
      String file, String key, JsonNode row, int line, @Nullable String method, Set<Task> seen) {
    String name = Objects.requireNonNullElse(Fields.text(row, "file"), key);
    if (name.isEmpty() || !row.isObject()) {
      found.unusable(file, line, "is not a result of a task: it has no \"file\"");
      return;
    }
    Task task = found.task(name, file, line);
    if (task == null) return;
    String contradiction = Fields.contradiction(row);
    if (contradiction != null) {
      found.unusable(file, line, contradiction);
    } else if (!seen.add(task)) {
      found.unusable(
          file, line, "is a second result of %s; the first counts".formatted(task.path()));
    } else {
      found.keep(
          new Found.Kept(
              task.category(),
              task.name(),
              file + ":" + line,
              found.method(method),
              found.model(Fields.text(row, "model")),
              null,
              null,
              Found.code(row, "code", task),
              Fields.outcome(row),
              Fields.text(row, "hardware"),
              Fields.without(row, "code")));
    }
  }
}
