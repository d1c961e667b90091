package dev.kbx.published;

import dev.kbx.candidate.Lines;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.json.JsonReadFeature;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.ObjectReader;
import tools.jackson.databind.json.JsonMapper;

/** Reads JSON as Python writes it: {@code NaN} is a number there. Each record has its line. */
final class JsonFiles {
  /** Longest line, in bytes: two kernels and their difference. */
  private static final int LONGEST_LINE = 64 << 20;

  private static final JsonMapper PYTHON =
      JsonMapper.builder().enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS).build();
  private static final ObjectReader ROWS =
      PYTHON.readerFor(JsonNode.class).with(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);

  private JsonFiles() {}

  /** Receives a record. */
  interface Rows {
    void row(JsonNode row, int line);
  }

  /** Receives a record of a document that is one object. */
  interface Entries {
    void entry(String key, JsonNode value, int line);
  }

  /** The files of a path: itself, or those in the folder that match, sorted by path. */
  static List<Path> files(Path path, Predicate<String> named, Found found) {
    if (Files.isRegularFile(path)) return List.of(path);
    if (!Files.isDirectory(path)) {
      found.absent(path, "does not exist");
      return List.of();
    }
    try (Stream<Path> all = Files.walk(path)) {
      return all.filter(file -> named.test(file.getFileName().toString()))
          .filter(Files::isRegularFile)
          .sorted(Comparator.comparing(Path::toString))
          .toList();
    } catch (IOException | UncheckedIOException e) {
      found.unreadable(path, "cannot be read (" + e.getMessage() + ")");
      return List.of();
    }
  }

  /** Reads a file with an object a line; all other lines are reported. */
  static void lines(Path file, Found found, Rows rows) {
    try (Lines lines = new Lines(Files.newInputStream(file), LONGEST_LINE)) {
      for (Lines.Line line = lines.next(); line != null; line = lines.next()) {
        if (line.text() != null && line.text().isBlank()) continue;
        found.count();
        row(file, line, found, rows);
      }
    } catch (IOException e) {
      found.unreadable(file, "cannot be read (" + e.getMessage() + ")");
    }
  }

  private static void row(Path file, Lines.Line line, Found found, Rows rows) {
    String name = file.toString();
    if (line.text() == null) {
      found.unusable(
          name, line.number(), line.badByte() >= 0 ? "is not UTF-8" : "is longer than 64 MiB");
      return;
    }
    try {
      JsonNode row = ROWS.readValue(line.text());
      if (row.isObject()) rows.row(row, line.number());
      else found.unusable(name, line.number(), "is no JSON object; each line should hold one");
    } catch (JacksonException e) {
      found.unusable(name, line.number(), "is no JSON; is the line cut off?");
    } catch (Found.TooLarge e) {
      found.unusable(name, line.number(), String.valueOf(e.getMessage()));
    }
  }

  /**
   * Reads a file that is one object, or an array of objects, whose key is then empty. A document
   * that is cut off is read as far as it goes.
   */
  static void entries(Path file, Found found, Entries entries) {
    try (JsonParser json = PYTHON.createParser(file)) {
      JsonToken first = json.nextToken();
      if (first == JsonToken.START_OBJECT) {
        while (json.nextToken() == JsonToken.PROPERTY_NAME) {
          String key = json.currentName();
          int line = json.currentTokenLocation().getLineNr();
          json.nextToken();
          entry(file, key, json.readValueAsTree(), line, found, entries);
        }
      } else if (first == JsonToken.START_ARRAY) {
        for (JsonToken next = json.nextToken();
            next != null && next != JsonToken.END_ARRAY;
            next = json.nextToken()) {
          int line = json.currentTokenLocation().getLineNr();
          JsonNode value = json.readValueAsTree();
          if (value.isObject()) entry(file, "", value, line, found, entries);
          else notAnObject(file, line, found);
        }
      } else {
        found.unreadable(file, "is no JSON object");
      }
    } catch (JacksonException e) {
      int line = e.getLocation() == null ? 1 : e.getLocation().getLineNr();
      found.unreadable(file, "is no JSON at line " + line + "; what comes before it was read");
    }
  }

  private static void notAnObject(Path file, int line, Found found) {
    found.count();
    found.unusable(file.toString(), line, "is no JSON object");
  }

  private static void entry(
      Path file, String key, JsonNode value, int line, Found found, Entries entries) {
    found.count();
    try {
      entries.entry(key, value, line);
    } catch (Found.TooLarge e) {
      found.unusable(file.toString(), line, String.valueOf(e.getMessage()));
    }
  }

  /** A small file that is one JSON value; null if it is absent or unreadable. */
  static @Nullable JsonNode document(Path file) {
    if (!Files.isRegularFile(file)) return null;
    try {
      return PYTHON.readTree(Files.readAllBytes(file));
    } catch (JacksonException | IOException e) {
      return null;
    }
  }
}
