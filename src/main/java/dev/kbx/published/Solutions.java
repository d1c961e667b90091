package dev.kbx.published;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** The solutions of flashinfer-bench in the folder {@code solutions} beside {@code traces}. */
final class Solutions {
  private static final String FOLDER = "solutions";

  private final Map<List<String>, Solution> all = new HashMap<>();

  /**
   * A solution.
   *
   * @param code null unless it is a single Python file, as a candidate is
   */
  record Solution(@Nullable String author, @Nullable String code) {}

  private Solutions() {}

  /** Those nearest to a path: in it, or beside it or a folder above. None if there is no such. */
  static Solutions near(Path path, Found found) {
    Solutions solutions = new Solutions();
    for (Path at = path.toAbsolutePath().normalize(); at != null; at = at.getParent()) {
      Path folder = at.resolve(FOLDER);
      if (!Files.isDirectory(folder)) continue;
      JsonFiles.files(folder, name -> name.endsWith(".json"), found).forEach(solutions::read);
      break;
    }
    return solutions;
  }

  private void read(Path file) {
    JsonNode solution = JsonFiles.document(file);
    if (solution == null) return;
    String name = Fields.text(solution, "name");
    String definition = Fields.text(solution, "definition");
    if (name == null || definition == null) return;
    all.put(
        List.of(definition, name), new Solution(Fields.text(solution, "author"), code(solution)));
  }

  private static @Nullable String code(JsonNode solution) {
    JsonNode sources = solution.path("sources");
    if (sources.size() != 1) return null;
    String path = Fields.text(sources.get(0), "path");
    return path != null && path.endsWith(".py") ? Fields.text(sources.get(0), "content") : null;
  }

  @Nullable Solution of(String definition, String solution) {
    return all.get(List.of(definition, solution));
  }
}
