package dev.kbx.task;

import dev.kbx.syntax.SyntaxCheck;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Definitions with workloads, as SOL-ExecBench and flashinfer-bench have them: a {@code
 * definition.json} beside a {@code workload.jsonl}, or folders {@code definitions} and {@code
 * workloads}.
 *
 * @param format the benchmark's name in commands, and the category of definitions without a type
 * @param folder the folder that was searched
 * @param files of the definitions, in the order of their paths
 * @param workloads by the name of their definition
 */
public record Definitions(
    String format, Path folder, List<Path> files, Map<String, List<Workload>> workloads)
    implements Checkout {
  private static final int DEPTH = 8;

  /** Longest JSON file that may be a definition, in bytes. */
  private static final long MOST_BYTES = 4 << 20;

  private static final String DEFINITION_FILE = "definition.json";

  /**
   * A line of a file of workloads.
   *
   * @param content the workload, maybe as the member {@code workload}; missing where the line is no
   *     JSON
   */
  record Workload(Path file, int line, JsonNode content) {}

  public Definitions {
    files = List.copyOf(files);
    workloads = Map.copyOf(workloads);
  }

  /**
   * Looks for definitions and workloads in a folder and those below it.
   *
   * @throws InvalidSuite if {@code folder} has none or cannot be read
   */
  public static Definitions find(String format, Path folder) {
    Checkout.refuseUnlessFolder(folder, format);
    Path root = folder.toAbsolutePath().normalize();
    boolean parted = Files.isDirectory(root.resolve("definitions"));
    List<Path> files =
        below(parted ? root.resolve("definitions") : root, ".json").stream()
            .filter(file -> parted || named(file, DEFINITION_FILE) || isDefinition(file))
            .toList();
    if (files.isEmpty()) {
      throw new InvalidSuite(
          folder
              + ": holds no definitions; name the folder that has definition.json, folders of"
              + " such, or the folders definitions and workloads");
    }
    Path lines = parted ? root.resolve("workloads") : root;
    return new Definitions(format, root, files, workloads(below(lines, ".jsonl"), files));
  }

  @Override
  public Result write(Path file, SyntaxCheck syntax) {
    return new DefinitionTask(format, file, workloads).write(syntax);
  }

  /** The object in a file; a missing node where it is not JSON or too long. */
  static JsonNode read(Path file) throws IOException {
    if (Files.size(file) > MOST_BYTES) return JsonMapper.shared().missingNode();
    try {
      return JsonMapper.shared().readTree(Files.readAllBytes(file));
    } catch (JacksonException _) {
      return JsonMapper.shared().missingNode();
    }
  }

  private static boolean isDefinition(Path file) {
    try {
      JsonNode content = read(file);
      return content.path("axes").isObject()
          && content.path("outputs").isObject()
          && content.path("reference").isString();
    } catch (IOException _) {
      return false; // A definition would be called definition.json, and reported.
    }
  }

  private static boolean named(Path file, String name) {
    return file.getFileName().toString().equals(name);
  }

  private static List<Path> below(Path folder, String extension) {
    if (!Files.isDirectory(folder)) return List.of();
    try (Stream<Path> found = Files.walk(folder, DEPTH)) {
      return found
          .filter(file -> file.toString().endsWith(extension) && Files.isRegularFile(file))
          .sorted(Comparator.comparing(Path::toString))
          .toList();
    } catch (IOException | UncheckedIOException e) {
      throw new InvalidSuite(folder + ": cannot be read (" + e.getMessage() + ")");
    }
  }

  private static Map<String, List<Workload>> workloads(List<Path> lines, List<Path> definitions) {
    Map<Path, String> beside = new HashMap<>();
    for (Path file : definitions) {
      if (named(file, DEFINITION_FILE)) beside.put(folder(file), name(file));
    }
    Map<String, List<Workload>> found = new HashMap<>();
    for (Path file : lines) {
      String stem = file.getFileName().toString().replaceFirst("\\.jsonl$", "");
      String usual = beside.getOrDefault(folder(file), stem);
      for (Workload each : read(file, usual)) {
        String definition = each.content.path("definition").asString(usual);
        found.computeIfAbsent(definition, _ -> new ArrayList<>()).add(each);
      }
    }
    return found;
  }

  private static Path folder(Path file) {
    return file.toAbsolutePath().resolveSibling("");
  }

  private static String name(Path definition) {
    try {
      return read(definition).path("name").asString("");
    } catch (IOException _) {
      return "";
    }
  }

  /** The workloads in a file; traces of solutions are passed over. */
  private static List<Workload> read(Path file, String definition) {
    List<Workload> found = new ArrayList<>();
    int number = 0;
    try (Stream<String> lines = Files.lines(file)) {
      for (String line : (Iterable<String>) lines::iterator) {
        number++;
        if (line.isBlank()) continue;
        JsonNode content = parsed(line);
        boolean isTrace =
            !content.path("solution").isMissingNode() && !content.path("solution").isNull();
        if (!isTrace) found.add(new Workload(file, number, content));
      }
    } catch (IOException | UncheckedIOException e) {
      throw new InvalidSuite(
          "%s: the workloads of %s cannot be read (%s)"
              .formatted(file, definition, e.getMessage()));
    }
    return found;
  }

  private static JsonNode parsed(String line) {
    try {
      return JsonMapper.shared().readTree(line);
    } catch (JacksonException _) {
      return JsonMapper.shared().missingNode();
    }
  }
}
