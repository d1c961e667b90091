package dev.kbx.candidate;

import dev.kbx.task.Task;
import dev.kbx.verdict.Json;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.json.JsonReadFeature;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.ObjectReader;

/**
 * A JSONL file that stays open while its candidates wait, so that it may be renamed or deleted.
 * Safe for several threads.
 */
final class Predictions {
  /** Characters of a value that a problem quotes. */
  private static final int SHOWN = 40;

  /** Where predictions have their answers. */
  static final String PREDICT = "predict";

  private static final String CONDITIONS = "conditions";

  /** Python writes NaN by default. */
  private static final ObjectReader ROWS =
      Json.mapper()
          .readerFor(JsonNode.class)
          .with(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS)
          .with(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);

  private static final Pattern ROUND_FILE = Pattern.compile("_(\\d{1,6})\\.jsonl$");

  private final Path file;
  private final RandomAccessFile open;

  Predictions(Path file) throws IOException {
    this.file = file;
    this.open = new RandomAccessFile(file.toFile(), "r");
  }

  /**
   * The source in one line's answer.
   *
   * @param member of the line that has it
   */
  Source source(Lines.Line line, Task task, String member) {
    return new Prediction(this, line, task, member);
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

  /** The answer of a row whose member is a string or null; else null. */
  static @Nullable String answer(JsonNode row, String member) {
    JsonNode predict = row.get(member);
    if (predict == null || !(predict.isString() || predict.isNull())) return null;
    if (predict.isNull()) return "";
    String answer = withoutLoneSurrogates(predict.stringValue());
    return member.equals(PREDICT) ? answer : SourceFiles.withoutTests(answer);
  }

  /**
   * A line.
   *
   * @throws tools.jackson.core.JacksonException if it is not JSON
   */
  static JsonNode row(String text) {
    return ROWS.readValue(text);
  }

  /** A key of the object in a valid line that occurs twice; null if none does. */
  static @Nullable String repeatedKey(String text) {
    Set<String> keys = new HashSet<>();
    try (JsonParser json = ROWS.createParser(text)) {
      if (json.nextToken() != JsonToken.START_OBJECT) return null;
      while (json.nextToken() == JsonToken.PROPERTY_NAME) {
        if (!keys.add(json.currentName())) return json.currentName();
        json.nextToken();
        json.skipChildren();
      }
      return null;
    }
  }

  /** The answer in a valid line. */
  static String answer(byte[] line, String member) {
    String answer = answer(row(Lines.text(line)), member);
    return answer == null ? "" : answer;
  }

  /**
   * The round of GEAK's files, which name the task by {@code filename} and the round by their own
   * name: {@code results_2.jsonl}; null for other rows.
   */
  @Nullable Integer roundOfFile(JsonNode row) {
    if (!row.path("filename").isString() || row.has("round")) return null;
    Matcher name = ROUND_FILE.matcher(String.valueOf(file.getFileName()));
    return name.find() ? Integer.valueOf(name.group(1)) : null;
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
    JsonNode conditions = row.get(CONDITIONS);
    if (conditions != null && !conditions.isNull() && !areConditions(conditions)) {
      return "has \"conditions\": %s; it should be an object of strings, numbers, true and false"
          .formatted(shown(conditions));
    }
    return null;
  }

  private static boolean areConditions(JsonNode value) {
    return value.isObject()
        && value.valueStream().allMatch(each -> each.isValueNode() && !each.isNull());
  }

  /** The conditions that a row states, as text; empty if it states none. */
  static Map<String, String> conditions(JsonNode row) {
    Map<String, String> conditions = new TreeMap<>();
    row.path(CONDITIONS)
        .properties()
        .forEach(each -> conditions.put(each.getKey(), each.getValue().asString()));
    return conditions;
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
