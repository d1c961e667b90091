package dev.kbx.published;

import dev.kbx.task.Task;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * GEAK's files: {@code NAME_0.jsonl} has the kernels after the first round, and {@code
 * NAME_mem_0.json} beside it what they passed.
 */
final class GeakReader implements PublishedReader {
  private static final String METHOD = "geak";
  private static final Pattern NAME = Pattern.compile("(.*)_(\\d{1,6})\\.jsonl");

  private final Found found;

  GeakReader(Found found) {
    this.found = found;
  }

  @Override
  public void read(Path path) {
    for (Path file : JsonFiles.files(path, name -> NAME.matcher(name).matches(), found)) {
      Matcher name = NAME.matcher(file.getFileName().toString());
      Integer round = name.matches() ? Integer.valueOf(name.group(2)) : null;
      JsonNode memory =
          name.matches()
              ? JsonFiles.document(
                  file.resolveSibling("%s_mem_%s.json".formatted(name.group(1), name.group(2))))
              : null;
      JsonFiles.lines(file, found, (row, line) -> read(file.toString(), row, line, round, memory));
    }
  }

  private void read(
      String file, JsonNode row, int line, @Nullable Integer round, @Nullable JsonNode memory) {
    if (!row.has("predict")) {
      found.unusable(file, line, "has no \"predict\"; is it a file of GEAK?");
      return;
    }
    Task task = found.task(found.names().ofRow(row), file, line);
    if (task == null) return;
    JsonNode passed = memory == null ? null : memory(memory, row, task);
    ObjectNode record = Fields.without(row, "predict");
    if (passed != null && passed.isObject()) record.set("memory", passed);
    String method = Fields.text(row, "method");
    found.keep(
        new Found.Kept(
            task.category(),
            task.name(),
            file + ":" + line,
            method != null || found.given().method() != null ? found.method(method) : METHOD,
            found.model(Fields.text(row, "model")),
            round,
            Fields.count(row, "sample"),
            Found.code(row, "predict", task),
            passed == null ? null : outcome(row, passed),
            Fields.text(row, "hardware"),
            record));
  }

  /** What GEAK remembers of a task, by the name that the row has for it. */
  private static JsonNode memory(JsonNode memory, JsonNode row, Task task) {
    for (String key : new String[] {row.path("filename").asString(""), task.name() + ".py"}) {
      if (memory.has(key)) return memory.path(key);
    }
    return JsonNodeFactory.instance.missingNode();
  }

  private static @Nullable PublishedOutcome outcome(JsonNode row, JsonNode passed) {
    ObjectNode fields = JsonNodeFactory.instance.objectNode();
    fields.set("call_ok", passed.path("pass_call"));
    fields.set("exe_ok", passed.path("pass_exe"));
    fields.set("perf_ok", passed.path("pass_perf"));
    fields.set("speedup", row.path("speedup"));
    String error = Fields.text(passed, "exe_err_msg");
    fields.put("error", error == null ? Fields.text(passed, "call_err_msg") : error);
    return Fields.outcome(fields);
  }
}
