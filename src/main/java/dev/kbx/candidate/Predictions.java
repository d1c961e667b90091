package dev.kbx.candidate;

import dev.kbx.task.Task;
import dev.kbx.verdict.Json;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A JSONL file that stays open while its candidates wait, so that it may be renamed or deleted.
 * Safe for several threads.
 */
final class Predictions {
  /** Characters of a value that a problem quotes. */
  private static final int SHOWN = 40;

  private final Path file;
  private final RandomAccessFile open;

  Predictions(Path file) throws IOException {
    this.file = file;
    this.open = new RandomAccessFile(file.toFile(), "r");
  }

  /** The source in one line's answer. */
  Source source(Lines.Line line, Task task) {
    return new Prediction(this, line, task);
  }

  Path file() {
    return file;
  }

  /** Bytes of the file; fewer than {@code length} if it has become shorter. */
  byte[] read(long offset, int length) throws IOException {
    byte[] bytes = new byte[length];
    // Not a channel, which an interrupt of one thread would close for all.
    synchronized (open) {
      open.seek(offset);
      int filled = 0;
      while (filled < length) {
        int more = open.read(bytes, filled, length - filled);
        if (more < 0) return Arrays.copyOf(bytes, filled);
        filled += more;
      }
    }
    return bytes;
  }

  /** The answer of a row whose {@code predict} is a string or null; else null. */
  static @Nullable String answer(JsonNode row) {
    JsonNode predict = row.get("predict");
    if (predict == null || !(predict.isString() || predict.isNull())) return null;
    return predict.isNull() ? "" : withoutLoneSurrogates(predict.stringValue());
  }

  /** The answer in a valid line. */
  static String answer(byte[] line) {
    String text = Lines.text(line, line.length > 0 && line[0] == (byte) 0xef);
    String answer = answer(Json.mapper().readTree(text));
    return answer == null ? "" : answer;
  }

  /** The provenance field of a row with a value of the wrong type; null if there is none. */
  static @Nullable String mistyped(JsonNode row) {
    for (String key : List.of("method", "model")) {
      if (row.hasNonNull(key) && !row.get(key).isString()) {
        return "has \"%s\": %s; it should be a string".formatted(key, shown(row.get(key)));
      }
    }
    for (String key : List.of("round", "sample")) {
      if (row.hasNonNull(key) && count(row, key) == null) {
        return "has \"%s\": %s; it should be a whole number from 0"
            .formatted(key, shown(row.get(key)));
      }
    }
    return null;
  }

  private static String shown(JsonNode value) {
    String text = value.toString();
    return text.length() <= SHOWN ? text : text.substring(0, SHOWN) + "...";
  }

  /** A field of a row that is a whole number from 0; null if it is absent or of another kind. */
  static @Nullable Integer count(JsonNode row, String key) {
    JsonNode value = row.get(key);
    return value != null && value.canConvertToInt() && value.intValue() >= 0
        ? value.intValue()
        : null;
  }

  /** Replaces lone surrogates, which JSON can escape and no encoding can represent. */
  private static String withoutLoneSurrogates(String text) {
    boolean clean = text.codePoints().noneMatch(c -> c >= 0xd800 && c <= 0xdfff);
    if (clean) return text;
    return text.codePoints()
        .map(c -> c >= 0xd800 && c <= 0xdfff ? 0xfffd : c)
        .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
        .toString();
  }
}
