package dev.kbx.published;

import dev.kbx.candidate.Problem;
import dev.kbx.candidate.SourceFiles;
import dev.kbx.task.Task;
import dev.kbx.verdict.RunFile;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.TaskNumber;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * KernelBench's {@code eval_results.json}: samples by problem number. The level is in the names of
 * the kernels beside it, in {@code generation_config.yaml}, or in the file's own name.
 */
final class EvalResultsReader implements PublishedReader {
  private static final Pattern NAME = Pattern.compile("eval_results(?:_level(\\d{1,3}))?\\.json");
  private static final Pattern LEVEL = Pattern.compile("(?m)^level:\\s*[\"']?(\\d{1,3})");
  private static final Pattern NUMBER = Pattern.compile("\\d{1,9}");

  private final Found found;

  EvalResultsReader(Found found) {
    this.found = found;
  }

  @Override
  public void read(Path path) {
    for (Path file : JsonFiles.files(path, name -> NAME.matcher(name).matches(), found)) {
      Integer level = level(file);
      if (level == null) {
        found.absent(file, "does not name the level of its problems; give it --level");
        continue;
      }
      JsonFiles.entries(file, found, (key, value, line) -> read(file, level, key, value, line));
    }
  }

  private @Nullable Integer level(Path file) {
    Matcher name = NAME.matcher(file.getFileName().toString());
    if (found.given().level() != null) return found.given().level();
    if (name.matches() && name.group(1) != null) return Integer.valueOf(name.group(1));
    SortedSet<Integer> levels = levels(folder(file));
    return levels.size() == 1 ? levels.first() : configured(folder(file));
  }

  private static Path folder(Path file) {
    return Objects.requireNonNull(file.toAbsolutePath().getParent());
  }

  private static SortedSet<Integer> levels(Path folder) {
    SortedSet<Integer> levels = new TreeSet<>();
    try (Stream<Path> files = Files.list(folder)) {
      files.forEach(file ->
          RunFile.parse(file.getFileName().toString())
              .ifPresent(kernel -> levels.add(kernel.task().level())));
    } catch (IOException | UncheckedIOException e) {
      return levels; // Then it is not known from here.
    }
    return levels;
  }

  private static @Nullable Integer configured(Path folder) {
    try {
      String text = Files.readString(folder.resolve("generation_config.yaml"));
      Matcher level = LEVEL.matcher(text);
      return level.find() ? Integer.valueOf(level.group(1)) : null;
    } catch (IOException e) {
      return null;
    }
  }

  private void read(Path file, int level, String key, JsonNode value, int line) {
    if (!NUMBER.matcher(key).matches()) {
      found.unusable(
          file.toString(), line, "has '%s' in place of a problem's number".formatted(key));
      return;
    }
    // Earlier versions of KernelBench have one sample in place of a list.
    List<JsonNode> samples = value.isArray() ? value.values().stream().toList() : List.of(value);
    for (int i = 1; i < samples.size(); i++) found.count();
    for (JsonNode sample : samples)
      read(file, new TaskNumber(level, Integer.parseInt(key)), sample, line);
  }

  private void read(Path file, TaskNumber number, JsonNode sample, int line) {
    String name = file.toString();
    if (!sample.isObject() || Fields.flag(sample, "compiled") == null) {
      found.unusable(
          name, line, "problem %d has a sample without \"compiled\"".formatted(number.number()));
      return;
    }
    Integer id = Fields.count(sample, "sample_id");
    RunFile kernel = new RunFile(number, id == null ? 0 : id);
    Task task = found.task(found.names().ofFile(kernel.name()), name, line);
    if (task == null) return;
    String method = Fields.text(sample, "method");
    found.keep(
        new Found.Kept(
            task.category(),
            task.name(),
            name + ":" + line,
            found.method(method),
            found.model(null),
            null,
            id,
            code(folder(file).resolve(kernel.name())),
            outcome(sample),
            Fields.text(sample.path("metadata"), "hardware"),
            sample));
  }

  private @Nullable String code(Path kernel) {
    if (!Files.isRegularFile(kernel)) return null;
    return Optional.ofNullable(SourceFiles.code(kernel, this::tell))
        .filter(code -> !code.isBlank())
        .orElse(null);
  }

  private void tell(Problem problem) {
    found.unreadable(Path.of(problem.file()), problem.message());
  }

  private static @Nullable PublishedOutcome outcome(JsonNode sample) {
    JsonNode details = sample.path("metadata");
    if (Objects.equals(Fields.flag(sample, "compiled"), false)) {
      return PublishedOutcome.notCalled(
          Status.FAILED, Stage.COMPILE, message(details, "compilation_error"));
    }
    Boolean correct = Fields.flag(sample, "correctness");
    if (correct == null) return null;
    if (correct) {
      Double runtime = Fields.positive(sample, "runtime");
      Double reference = Fields.positive(sample, "ref_runtime");
      return PublishedOutcome.correct(
          runtime != null, runtime == null || reference == null ? null : reference / runtime);
    }
    return details.has("runtime_error")
        ? PublishedOutcome.notCalled(Status.FAILED, Stage.CALL, message(details, "runtime_error"))
        : PublishedOutcome.wrong(Status.FAILED, message(details, "correctness_issue"));
  }

  /** A message, which may be in a list. */
  private static @Nullable String message(JsonNode details, String key) {
    JsonNode value = details.path(key);
    return value.isArray() && !value.isEmpty()
        ? value.get(0).asString("")
        : Fields.message(details, key);
  }
}
