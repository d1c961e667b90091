package dev.kbx.published;

import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Status;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Fields of published records. What is of another type counts as not stated. */
final class Fields {
  /** Characters of a message: its last line says most. */
  private static final int LONGEST_MESSAGE = 500;

  private Fields() {}

  static @Nullable String text(JsonNode row, String key) {
    JsonNode value = row.path(key);
    return value.isString() && !value.asString().isBlank() ? value.asString() : null;
  }

  static @Nullable Boolean flag(JsonNode row, String key) {
    JsonNode value = row.path(key);
    return value.isBoolean() ? value.booleanValue() : null;
  }

  static @Nullable Integer count(JsonNode row, String key) {
    JsonNode value = row.path(key);
    return value.isIntegralNumber() && value.canConvertToInt() && value.intValue() >= 0
        ? value.intValue()
        : null;
  }

  /** A positive, finite number; null for all that no time and no speedup can be. */
  static @Nullable Double positive(JsonNode row, String key) {
    JsonNode value = row.path(key);
    if (!value.isNumber()) return null;
    double number = value.doubleValue();
    return number > 0 && number < Double.POSITIVE_INFINITY ? number : null;
  }

  /** The last line of a message that is not blank; null without one. */
  static @Nullable String message(JsonNode row, String key) {
    String text = text(row, key);
    if (text == null) return null;
    List<String> lines = text.lines().filter(line -> !line.isBlank()).toList();
    String last = lines.getLast().strip();
    return last.length() <= LONGEST_MESSAGE ? last : last.substring(0, LONGEST_MESSAGE);
  }

  /** A copy of an object without some members. */
  static ObjectNode without(JsonNode row, String... members) {
    ObjectNode copy = ((ObjectNode) row).deepCopy();
    copy.remove(List.of(members));
    return copy;
  }

  /** Why the fields of KernelBench-X contradict each other; null if they do not. */
  static @Nullable String contradiction(JsonNode row) {
    boolean refused = Objects.equals(flag(row, "call_ok"), false);
    boolean correct = Objects.equals(flag(row, "exe_ok"), true);
    return refused && correct ? "states exe_ok true and call_ok false; one of them is wrong" : null;
  }

  /**
   * The outcome by KernelBench-X's {@code call_ok}, {@code exe_ok} and {@code perf_ok}; null if the
   * first two are not there.
   */
  static @Nullable PublishedOutcome outcome(JsonNode row) {
    Boolean called = flag(row, "call_ok");
    Boolean correct = flag(row, "exe_ok");
    String message = message(row, "error");
    if (called == null && correct == null) return null;
    if (Objects.equals(correct, true)) {
      Double speedup = positive(row, "speedup");
      boolean timed = Objects.requireNonNullElse(flag(row, "perf_ok"), speedup != null);
      return PublishedOutcome.correct(timed, timed ? speedup : null);
    }
    if (Objects.equals(called, false)) {
      return PublishedOutcome.notCalled(Status.FAILED, Stage.CALL, message);
    }
    if (correct == null) return null; // It was called, and nothing is said of its results.
    return called == null
        ? PublishedOutcome.failed(message)
        : PublishedOutcome.wrong(Status.FAILED, message);
  }
}
