package dev.kbx.candidate;

import dev.kbx.syntax.PythonSource;
import dev.kbx.task.DefinedTensors;
import dev.kbx.task.Task;
import dev.kbx.verdict.Json;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/**
 * Solutions of SOL-ExecBench and flashinfer-bench: JSON files that name a definition, hold source
 * files, and say which function is called and how.
 */
final class Solutions {
  /** Languages whose programs are Python files, with kernels that kbx judges. */
  private static final Set<String> LANGUAGES =
      Set.of("python", "pytorch", "triton", "tilelang", "cute_dsl");

  private static final int DEPTH = 8;
  private static final String ENTRY = "run";

  /** What the solution's own function is called in the candidate. */
  private static final String OWN = "solution_entry";

  private Solutions() {}

  /** Why a solution cannot be judged. */
  static final class Unusable extends Exception {
    private static final long serialVersionUID = 1;

    Unusable(@Nullable String message) {
      super(message);
    }

    String reason() {
      return getMessage() == null ? "cannot be judged" : getMessage();
    }
  }

  /** The content of the solutions at a path, by their files, sorted: of itself, or those in it. */
  static Map<Path, JsonNode> in(Path source) {
    Map<Path, JsonNode> solutions = new LinkedHashMap<>();
    for (Path file : documents(source)) {
      JsonNode content = read(file);
      if (isSolution(content)) solutions.put(file, content);
    }
    return solutions;
  }

  private static List<Path> documents(Path source) {
    if (Files.isRegularFile(source)) return isJson(source) ? List.of(source) : List.of();
    if (!Files.isDirectory(source)) return List.of();
    try (Stream<Path> all = Files.find(source, DEPTH, (_, what) -> what.isRegularFile())) {
      return all.filter(Solutions::isJson).sorted(Comparator.comparing(Path::toString)).toList();
    } catch (IOException | UncheckedIOException e) {
      return List.of(); // What cannot be read is reported with the other files.
    }
  }

  /**
   * Whether a file beside solutions belongs to the benchmark: workloads, or an extracted source.
   */
  static boolean isPart(Path file, Map<Path, JsonNode> solutions) {
    String name = file.getFileName().toString();
    if (name.endsWith(".jsonl")) return isWorkloads(file);
    return solutions.entrySet().stream()
        .filter(solution -> file.startsWith(solution.getKey().resolveSibling("")))
        .anyMatch(solution -> name.equals("reference.py") || holds(solution.getValue(), file));
  }

  private static boolean holds(JsonNode solution, Path file) {
    return solution
        .path("sources")
        .valueStream()
        .map(each -> each.path("path").asString(""))
        .anyMatch(path -> !path.isEmpty() && file.endsWith(path));
  }

  private static boolean isWorkloads(Path file) {
    try (Stream<String> lines = Files.lines(file)) {
      String first = lines.filter(line -> !line.isBlank()).findFirst().orElse("");
      JsonNode row = Json.mapper().readTree(first);
      return row.has("workload") || (row.has("axes") && row.has("inputs"));
    } catch (IOException | UncheckedIOException | JacksonException _) {
      return false; // Reading it as predictions reports the error.
    }
  }

  private static boolean isJson(Path file) {
    return file.toString().toLowerCase(Locale.ROOT).endsWith(".json");
  }

  private static boolean isSolution(JsonNode content) {
    return content.path("definition").isString()
        && content.path("spec").isObject()
        && content.path("sources").isArray();
  }

  /**
   * The content of a file; a missing node where it is not JSON, or larger than a solution may be.
   */
  private static JsonNode read(Path file) {
    try {
      if (Files.size(file) > 8L * CandidateSources.MAX_CODE) return Json.mapper().missingNode();
      return Json.mapper().readTree(Files.readAllBytes(file));
    } catch (IOException | JacksonException _) {
      return Json.mapper().missingNode();
    }
  }

  /**
   * The solution as one Python file that defines the task's entry: its sources, and below them a
   * function that calls the solution's as the solution says.
   */
  static String code(JsonNode solution, Task task) throws Unusable {
    JsonNode spec = solution.path("spec");
    List<String> foreign =
        languages(spec).stream().filter(language -> !LANGUAGES.contains(language)).toList();
    if (!foreign.isEmpty()) {
      throw new Unusable(
          "is written in %s, which is not judged; Python files with kernels are: %s"
              .formatted(
                  String.join(", ", foreign),
                  LANGUAGES.stream().sorted().collect(Collectors.joining(", "))));
    }
    List<JsonNode> sources = solution.path("sources").valueStream().toList();
    Map<String, String> files = new LinkedHashMap<>();
    for (JsonNode each : sources) {
      files.put(each.path("path").asString(""), each.path("content").asString(""));
    }
    String[] entry = spec.path("entry_point").asString("").split("::", -1);
    if (entry.length != 2 || !files.containsKey(entry[0])) {
      throw new Unusable(
          "its \"entry_point\" is not of the form %s::function"
              .formatted(String.join(" or ", files.keySet())));
    }
    String path = entry[0];
    String source = JoinedSources.of(files, path);
    if (source.length() > CandidateSources.MAX_CODE) throw new Unusable("is larger than 1 MiB");
    Set<String> names = PythonSource.parse(source).names();
    if (!names.contains(entry[1])) {
      throw new Unusable("its entry point %s() is not defined in %s".formatted(entry[1], path));
    }
    if (!entry[1].equals(ENTRY) && names.contains(ENTRY)) {
      throw new Unusable(
          "defines %s() beside its entry point %s(): rename it".formatted(ENTRY, entry[1]));
    }
    return source.stripTrailing() + adapter(entry[1], spec, task);
  }

  private static List<String> languages(JsonNode spec) {
    JsonNode several = spec.path("languages");
    return several.isArray()
        ? several.valueStream().map(JsonNode::asString).toList()
        : List.of(spec.path("language").asString("an unnamed language"));
  }

  private static String adapter(String entry, JsonNode spec, Task task) throws Unusable {
    try {
      DefinedTensors tensors = DefinedTensors.of(task);
      String body =
          spec.path("destination_passing_style").asBoolean(true)
              ? written(tensors)
              : returned(tensors);
      return "\n\n\nimport torch\n\n%s = %s\n\n\ndef %s(%s):\n%s"
          .formatted(OWN, entry, ENTRY, tensors.parameters(), body.indent(4));
    } catch (IOException | IllegalArgumentException e) {
      throw new Unusable("cannot be called: " + e.getMessage());
    }
  }

  /** The function writes into outputs that it is given last. */
  private static String written(DefinedTensors tensors) {
    String outputs = String.join(", ", tensors.outputs().keySet());
    return "%s\n%s(%s, %s)\nreturn %s"
        .formatted(
            String.join("\n", tensors.allocations()), OWN, tensors.parameters(), outputs, outputs);
  }

  /** The function returns outputs: one, a sequence, or a dict. */
  private static String returned(DefinedTensors tensors) {
    String names =
        tensors.outputs().keySet().stream()
            .map(name -> "\"" + name + "\", ")
            .collect(Collectors.joining());
    return """
    found = %s(%s)
    if isinstance(found, dict):
        found = [found[name] for name in (%s)]
    if isinstance(found, (list, tuple)):
        return found[0] if len(found) == 1 else tuple(found)
    return found
    """
        .formatted(OWN, tensors.parameters(), names);
  }
}
