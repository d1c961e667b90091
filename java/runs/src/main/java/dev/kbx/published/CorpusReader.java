package dev.kbx.published;

import dev.kbx.task.Task;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * KernelBench-X's iteration corpus: a line has a task's kernel and outcome before and after a
 * round. What one line has after a round, the next has before it: it is one result.
 */
final class CorpusReader implements PublishedReader {
  private static final Pattern ROUND = Pattern.compile("(?:round_)?(\\d{1,6})");
  private static final Pattern TRANSITION = Pattern.compile("round_(\\d{1,6})_to_round_(\\d{1,6})");

  private final Found found;
  private final Map<List<@Nullable Object>, Seen> seen = new HashMap<>();

  /** An earlier record of the same kernel in the same round. */
  private record Seen(String origin, @Nullable PublishedOutcome outcome) {}

  /** One of the two ends of a transition. */
  private record End(String state, String code, @Nullable Integer round, JsonNode fields) {}

  CorpusReader(Found found) {
    this.found = found;
  }

  @Override
  public void read(Path path) {
    List<Path> files = JsonFiles.files(path, name -> name.endsWith(".jsonl"), found);
    for (Path file : files) {
      JsonFiles.lines(file, found, (row, line) -> read(file.toString(), row, line));
    }
  }

  private void read(String file, JsonNode row, int line) {
    String id = Fields.text(row, "task_id");
    if (id == null) {
      found.unusable(file, line, "has no \"task_id\"; is it a line of the iteration corpus?");
      return;
    }
    if (!row.path("before").isObject() || !row.path("after").isObject()) {
      found.unusable(file, line, "has no objects \"before\" and \"after\" with outcomes");
      return;
    }
    Task task = found.task(id, file, line);
    if (task == null) return;
    Integer from = round(row, "from_round", 1);
    Integer to = round(row, "to_round", 2);
    if (from == null || to == null) {
      found.unusable(file, line, "names no rounds; \"from_round\" and \"to_round\" should");
      return;
    }
    // The transition itself belongs to what it led to.
    JsonNode after = Fields.without(row, "before", "before_code", "after_code");
    end(file, line, task, row, new End("before", "before_code", from, row.path("before")));
    end(file, line, task, row, new End("after", "after_code", to, after));
  }

  private void end(String file, int line, Task task, JsonNode row, End end) {
    JsonNode state = row.path(end.state());
    String contradiction = Fields.contradiction(state);
    if (contradiction != null) {
      found.unusable(file, line, "\"%s\" %s".formatted(end.state(), contradiction));
      return;
    }
    String code = Found.code(row, end.code(), task);
    PublishedOutcome outcome = Fields.outcome(state);
    String method = found.method(Fields.text(row, "method"));
    String model = found.model(Fields.text(row, "model"));
    String origin = file + ":" + line;
    String hardware = Fields.text(row, "hardware");
    List<@Nullable Object> key =
        Arrays.asList(task.path(), method, model, hardware, end.round(), code);
    Seen earlier = seen.putIfAbsent(key, new Seen(origin, outcome));
    if (earlier == null) {
      found.keep(
          new Found.Kept(
              task.category(),
              task.name(),
              origin,
              method,
              model,
              end.round(),
              null,
              code,
              outcome,
              hardware,
              end.fields()));
    } else if (agree(earlier.outcome(), outcome)) {
      found.again();
    } else {
      found.unusable(
          file,
          line,
          "says otherwise of the kernel of round %d than %s, which counts"
              .formatted(end.round(), earlier.origin()));
    }
  }

  private static boolean agree(@Nullable PublishedOutcome first, @Nullable PublishedOutcome next) {
    if (first == null || next == null) return first == null && next == null;
    return Objects.equals(first.callOk(), next.callOk())
        && Objects.equals(first.exeOk(), next.exeOk())
        && Objects.equals(first.speedup(), next.speedup());
  }

  private static @Nullable Integer round(JsonNode row, String member, int group) {
    Integer number = Fields.count(row, member);
    if (number != null) return number;
    String text = Fields.text(row, member);
    Matcher round = ROUND.matcher(text == null ? "" : text);
    if (round.matches()) return Integer.valueOf(round.group(1));
    String transition = Fields.text(row, "transition");
    Matcher both = TRANSITION.matcher(transition == null ? "" : transition);
    return both.matches() ? Integer.valueOf(both.group(group)) : null;
  }
}
