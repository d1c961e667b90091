package dev.kbx.candidate;

import dev.kbx.verdict.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/**
 * Distinguishes kbx's own results from predictions by content: an output folder may be among the
 * sources.
 */
final class OwnFiles {
  private static final Set<String> VERDICT =
      Set.of("run", "source", "suite", "task", "category", "status", "stage");

  private static final Set<String> TASK_VERDICT =
      Set.of("name", "suite", "category", "ok", "file", "controls");

  private OwnFiles() {}

  /** Whether a JSONL file begins with a verdict, or is where the first one will be written. */
  static boolean areResults(Path file) {
    try {
      if (Files.size(file) == 0) return awaitsVerdicts(file);
      Set<String> keys = firstKeys(file);
      return keys.containsAll(VERDICT) || keys.containsAll(TASK_VERDICT);
    } catch (IOException | JacksonException _) {
      return false; // Reading it will report the error.
    }
  }

  /** A run that was interrupted early leaves its file empty. */
  private static boolean awaitsVerdicts(Path file) {
    return file.getFileName().toString().equals("results.jsonl")
        && Files.isRegularFile(file.resolveSibling("kbx.db"));
  }

  /** Keys of the first object; empty for other content or a prediction. */
  private static Set<String> firstKeys(Path file) throws IOException {
    Set<String> keys = new HashSet<>();
    try (JsonParser json = Json.mapper().createParser(file)) {
      if (json.nextToken() != JsonToken.START_OBJECT) return keys;
      while (json.nextToken() == JsonToken.PROPERTY_NAME) {
        if (json.currentName().equals("predict")) return Set.of();
        keys.add(json.currentName());
        json.nextToken();
        json.skipChildren();
      }
    }
    return keys;
  }
}
