package dev.kbx.published;

import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Status;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Traces of flashinfer-bench: a line for each workload of a solution. All workloads of a solution
 * on one hardware are one result: correct if all pass, with the geometric mean of their speedups.
 */
final class TraceReader implements PublishedReader {
  private static final String TRACES = "traces";

  private final Found found;
  private final Map<Key, List<Trace>> solutions = new LinkedHashMap<>();

  /**
   * A solution on a hardware.
   *
   * @param operation the folder of its definition
   */
  private record Key(
      String operation, String definition, String solution, @Nullable String hardware) {}

  /**
   * One workload.
   *
   * @param author the folder above the operation's; null if the files lie otherwise
   */
  private record Trace(String origin, @Nullable String author, JsonNode row) {}

  TraceReader(Found found) {
    this.found = found;
  }

  @Override
  public void read(Path path) {
    Path traces = Files.isDirectory(path.resolve(TRACES)) ? path.resolve(TRACES) : path;
    for (Path file : JsonFiles.files(traces, name -> name.endsWith(".jsonl"), found)) {
      JsonFiles.lines(file, found, (row, line) -> read(file, row, line));
    }
    Solutions published = Solutions.near(path, found);
    solutions.forEach((key, all) -> keep(key, all, published));
  }

  private void read(Path file, JsonNode row, int line) {
    String definition = Fields.text(row, "definition");
    String solution = Fields.text(row, "solution");
    JsonNode evaluation = row.path("evaluation");
    if (definition == null || solution == null) {
      found.unusable(
          file.toString(),
          line,
          "names no definition and solution; is it a trace, not a workload?");
    } else if (evaluation.isObject() && status(evaluation) == null) {
      found.unusable(
          file.toString(),
          line,
          "has the status '%s', which flashinfer-bench does not have"
              .formatted(evaluation.path("status").asString("")));
    } else {
      String hardware = Fields.text(evaluation.path("environment"), "hardware");
      solutions
          .computeIfAbsent(
              new Key(folder(file, 1), definition, solution, hardware), _ -> new ArrayList<>())
          .add(new Trace(file + ":" + line, author(file), row));
    }
  }

  /** The folder so many levels above a file; {@code traces} where there is none. */
  private static String folder(Path file, int levels) {
    Path at = file.toAbsolutePath();
    for (int i = 0; i < levels && at != null; i++) at = at.getParent();
    Path name = at == null ? null : at.getFileName();
    return name == null ? TRACES : name.toString();
  }

  /** Who made the traces' solutions, in {@code traces/AUTHOR/OPERATION/DEFINITION.jsonl}. */
  private static @Nullable String author(Path file) {
    return folder(file, 3).equals(TRACES) ? folder(file, 2) : null;
  }

  private void keep(Key key, List<Trace> traces, Solutions published) {
    Trace first = traces.getFirst();
    Solutions.Solution solution = published.of(key.definition(), key.solution());
    String author = solution == null ? first.author() : solution.author();
    ObjectNode record = JsonNodeFactory.instance.objectNode().put("solution", key.solution());
    traces.forEach(trace -> record.withArray("traces").add(trace.row()));
    found.keep(
        new Found.Kept(
            key.operation(),
            key.definition(),
            first.origin(),
            found.method(author),
            found.model(null),
            null,
            null,
            solution == null ? null : solution.code(),
            outcome(traces),
            key.hardware(),
            record));
  }

  /** The first failure, or the mean of all speedups; null if a trace has no evaluation. */
  private static @Nullable PublishedOutcome outcome(List<Trace> traces) {
    double logs = 0;
    boolean timed = true;
    for (Trace trace : traces) {
      JsonNode evaluation = trace.row().path("evaluation");
      Status status = status(evaluation);
      if (status == null) return null;
      if (status != Status.CORRECT) return failed(status, evaluation);
      Double speedup = Fields.positive(evaluation.path("performance"), "speedup_factor");
      timed &= speedup != null;
      logs += speedup == null ? 0 : Math.log(speedup);
    }
    return PublishedOutcome.correct(timed, timed ? Math.exp(logs / traces.size()) : null);
  }

  private static PublishedOutcome failed(Status status, JsonNode evaluation) {
    String log = Fields.message(evaluation, "log");
    String message = Objects.requireNonNullElse(log, evaluation.path("status").asString(""));
    return switch (status) {
      case COMPILE_ERROR -> PublishedOutcome.notCalled(status, Stage.COMPILE, message);
      case RUNTIME_ERROR, TIMEOUT -> PublishedOutcome.notCalled(status, Stage.CALL, message);
      case FAILED, INVALID_TASK ->
          new PublishedOutcome(status, Stage.CORRECT, null, false, null, message, null);
      default -> PublishedOutcome.wrong(status, message);
    };
  }

  /** kbx's word for a status; null for none, and for one that flashinfer-bench does not have. */
  private static @Nullable Status status(JsonNode evaluation) {
    return switch (evaluation.path("status").asString("")) {
      case "PASSED" -> Status.CORRECT;
      case "INCORRECT_SHAPE" -> Status.WRONG_SHAPE;
      case "INCORRECT_NUMERICAL" -> Status.WRONG_VALUES;
      case "INCORRECT_DTYPE" -> Status.WRONG_DTYPE;
      case "RUNTIME_ERROR" -> Status.RUNTIME_ERROR;
      case "COMPILE_ERROR" -> Status.COMPILE_ERROR;
      case "TIMEOUT" -> Status.TIMEOUT;
      case "REWARD_HACK" -> Status.FAILED;
      case "INVALID_REFERENCE" -> Status.INVALID_TASK;
      default -> null;
    };
  }

  /** The solutions of flashinfer-bench in the folder {@code solutions} beside {@code traces}. */
  private static final class Solutions {
    private static final String FOLDER = "solutions";

    private final Map<List<String>, Solution> all = new HashMap<>();

    /**
     * A solution.
     *
     * @param code null unless it is a single Python file, as a candidate is
     */
    record Solution(@Nullable String author, @Nullable String code) {}

    private Solutions() {}

    /**
     * The solutions nearest to a path: in it, or beside it or a folder above. None if there is no
     * such.
     */
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
}
