package dev.kbx.task;

import dev.kbx.syntax.ByteOrderMark;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Metadata of the original's tasks: a JSON array, or a line for each task, of objects with {@code
 * name}, {@code file}, {@code description}, {@code func_inputs}, {@code math} and sometimes {@code
 * precision_thresholds}.
 */
final class OriginalMetadata {
  private static final JsonMapper MAPPER = JsonMapper.builder().build();

  /** Maximum size; the original's file has half a megabyte. */
  private static final long MOST_BYTES = 16 << 20;

  private static final Entry NOTHING = new Entry(null, null, null, null, null, Map.of());

  /** By {@code Category/name} and by {@code name}. */
  private final Map<String, Entry> entries = new HashMap<>();

  private OriginalMetadata() {}

  /**
   * Metadata of one task; missing fields are absent.
   *
   * @param entry the signature, often with the meaning of parameters
   */
  record Entry(
      @Nullable String description,
      @Nullable String entry,
      @Nullable String math,
      @Nullable Integer difficulty,
      @Nullable String dtype,
      Map<String, Double> thresholds) {
    Entry {
      thresholds = Map.copyOf(thresholds);
    }
  }

  /**
   * Metadata from the first file in or above the tasks' folder that names one of the tasks; else
   * empty.
   */
  static OriginalMetadata near(Path root, List<Path> files) {
    Path folder = root;
    for (int up = 0; up < 3 && folder != null; up++, folder = folder.getParent()) {
      for (Path candidate : readable(folder)) {
        String name = candidate.getFileName().toString();
        if (!name.endsWith(".json") && !name.endsWith(".jsonl")) continue;
        OriginalMetadata read = new OriginalMetadata();
        objects(candidate).forEach(read::add);
        if (files.stream().anyMatch(file -> !read.of("", file).equals(NOTHING))) return read;
      }
    }
    return new OriginalMetadata();
  }

  private static List<Path> readable(Path folder) {
    try {
      return Suites.list(folder);
    } catch (InvalidSuite _) {
      return List.of(); // Folders above the checkout may be unreadable.
    }
  }

  /** The metadata of a task; empty for an unknown one. */
  Entry of(String category, Path file) {
    String name = base(file.getFileName().toString());
    Entry exact = entries.get(category + "/" + name);
    return exact == null ? entries.getOrDefault(name, NOTHING) : exact;
  }

  private static List<JsonNode> objects(Path file) {
    List<JsonNode> found = new ArrayList<>();
    try {
      if (!Files.isRegularFile(file) || Files.size(file) > MOST_BYTES) return found;
      String text = ByteOrderMark.read(file).strip();
      if (text.startsWith("[")) {
        MAPPER.readTree(text).forEach(found::add);
      } else {
        for (String line : text.lines().toList()) found.add(MAPPER.readTree(line));
      }
    } catch (IOException | JacksonException _) {
      found.clear(); // Another kind of file.
    }
    return found;
  }

  private void add(JsonNode object) {
    if (!object.isObject() || !(object.has("description") || object.has("func_inputs"))) return;
    Entry entry = entry(object);
    String name = text(object, "name");
    if (name != null) entries.putIfAbsent(name.substring(name.lastIndexOf('.') + 1), entry);
    String file = text(object, "file");
    if (file == null) return;
    entries.put(base(file), entry);
    entries.put(base(file.substring(file.lastIndexOf('/') + 1)), entry);
  }

  private static Entry entry(JsonNode object) {
    Map<String, Double> thresholds = new TreeMap<>();
    JsonNode given = object.get("precision_thresholds");
    if (given != null && given.isObject()) {
      given
          .properties()
          .forEach(each -> {
            if (each.getValue().isNumber())
              thresholds.put(each.getKey(), each.getValue().doubleValue());
          });
    }
    JsonNode difficulty = object.get("difficulty");
    return new Entry(
        text(object, "description"),
        text(object, "func_inputs"),
        text(object, "math"),
        difficulty != null && difficulty.isInt() ? difficulty.intValue() : null,
        text(object, "dtype"),
        thresholds);
  }

  private static @Nullable String text(JsonNode object, String field) {
    JsonNode value = object.get(field);
    return value == null || !value.isString() || value.stringValue().isBlank()
        ? null
        : value.stringValue().strip();
  }

  private static String base(String name) {
    return name.endsWith(".py") ? name.substring(0, name.length() - ".py".length()) : name;
  }
}
