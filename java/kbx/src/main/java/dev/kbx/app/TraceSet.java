package dev.kbx.app;

import dev.kbx.files.AtomicFile;
import dev.kbx.files.UnwritableException;
import dev.kbx.syntax.ByteOrderMark;
import dev.kbx.task.DefinedTensors;
import dev.kbx.task.Task;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict;
import dev.kbx.verdict.Verdict.SizeTiming;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A run as solutions and traces of SOL-ExecBench or flashinfer-bench: {@code solutions/TYPE/NAME/}
 * with a file a candidate, and {@code traces/TYPE/NAME.jsonl} with a line a candidate and workload.
 * TYPE is the definition's category, NAME its name.
 *
 * @param sol whether in SOL-ExecBench's form: {@code languages}, and {@code LOCAL} for hardware
 */
record TraceSet(RunInfo run, boolean sol, Path target) {
  /** As {@code DefinitionTask} writes a workload. */
  private static final Pattern WORKLOAD =
      Pattern.compile(
          "^ {8}Workload\\((\".*?\"), (\\{[^}]*})(?:, (\\{[^}]*}))?(?:, files=(\\{.*?}))?"
              + "(?:, tolerance=(\\{[^}]*}))?\\),$");

  private static final Pattern RECORDED = Pattern.compile("(\".*?\"): \\((\".*?\"), (\".*?\")\\)");

  private static final Pattern SHAPE = Pattern.compile("\\[([0-9, ]*)]");
  private static final String ENTRY = "kernel.py::run";
  private static final int HASH = 12;

  /**
   * What was written.
   *
   * @param untimed correct candidates without traces, as a trace of one needs its time
   */
  record Written(int solutions, int traces, int untimed) {}

  /** One workload of a definition. */
  private record Workload(
      String uuid,
      Map<String, Object> axes,
      Map<String, Object> scalars,
      Map<String, Object> recorded,
      Map<String, Object> tolerance) {}

  /** Whoever has the source of a verdict's candidate. */
  interface Sources {
    String of(Verdict verdict);
  }

  /**
   * Writes verdicts on tasks of definitions.
   *
   * @param tasks by path; verdicts on others are left out
   */
  Written write(Iterable<Verdict> verdicts, Map<String, Task> tasks, Sources sources) {
    int solutions = 0;
    int untimed = 0;
    Map<Path, StringBuilder> traces = new TreeMap<>();
    int lines = 0;
    for (Verdict verdict : verdicts) {
      Task task = tasks.get(verdict.provenance().category() + "/" + verdict.provenance().task());
      if (task == null || !task.isDefinition()) continue;
      String name = name(verdict);
      Path folder = target.resolve("solutions").resolve(task.category()).resolve(task.name());
      replace(folder.resolve(name + ".json"), pretty(solution(verdict, name, sources.of(verdict))));
      solutions++;
      List<Map<String, Object>> made = traces(verdict, task, name);
      if (made.isEmpty() && verdict.judgement().status() == Status.CORRECT) untimed++;
      Path file = target.resolve("traces").resolve(task.category()).resolve(task.name() + ".jsonl");
      for (Map<String, Object> trace : made) {
        traces
            .computeIfAbsent(file, _ -> new StringBuilder())
            .append(Json.mapper().writeValueAsString(trace))
            .append('\n');
        lines++;
      }
    }
    traces.forEach((file, text) -> replace(file, text.toString()));
    return new Written(solutions, lines, untimed);
  }

  private static void replace(Path file, String text) {
    Path folder = Objects.requireNonNull(file.getParent());
    UnwritableException.naming(folder, () -> Files.createDirectories(folder));
    AtomicFile.replace(file, writer -> writer.write(text));
  }

  private static String pretty(Map<String, Object> value) {
    return Json.mapper().writerWithDefaultPrettyPrinter().writeValueAsString(value) + "\n";
  }

  private static String name(Verdict verdict) {
    String hash = verdict.provenance().candidate();
    return "%s_%s"
        .formatted(verdict.provenance().task(), hash.substring(0, Math.min(HASH, hash.length())));
  }

  private Map<String, Object> solution(Verdict verdict, String name, String code) {
    boolean triton = code.contains("triton");
    Map<String, Object> spec = new LinkedHashMap<>();
    if (sol) spec.put("languages", List.of(triton ? "triton" : "pytorch"));
    else spec.put("language", triton ? "triton" : "python");
    spec.put("target_hardware", List.of(sol ? "LOCAL" : hardware(verdict.judgement())));
    spec.put("entry_point", ENTRY);
    spec.put("dependencies", triton ? List.of("torch", "triton") : List.of("torch"));
    spec.put("destination_passing_style", false);
    String model = verdict.provenance().model();
    String method = verdict.provenance().method();
    Map<String, Object> solution = new LinkedHashMap<>();
    solution.put("name", name);
    solution.put("definition", verdict.provenance().task());
    solution.put("description", "Judged by kbx in run %s.".formatted(run.id()));
    solution.put("author", model != null ? model : Objects.requireNonNullElse(method, "unknown"));
    solution.put("spec", spec);
    solution.put("sources", List.of(Map.of("path", "kernel.py", "content", code)));
    return solution;
  }

  private static String hardware(Judgement judgement) {
    return judgement.device().name().replaceAll("[^A-Za-z0-9.-]+", "_");
  }

  /** A failure is one of all workloads, as kbx judges them together. */
  private List<Map<String, Object>> traces(Verdict verdict, Task task, String name) {
    String status = status(verdict.judgement());
    if (status == null) return List.of();
    List<Map<String, Object>> made = new ArrayList<>();
    Map<Workload, SizeTiming> timed = new HashMap<>();
    try {
      List<Workload> workloads = workloads(task);
      DefinedTensors tensors = DefinedTensors.of(task);
      boolean custom = ByteOrderMark.read(task.file()).contains("\n    custom=");
      if (status.equals("PASSED")) timed = timed(verdict, tensors, workloads);
      for (Workload each : workloads) {
        SizeTiming size = timed.get(each);
        if (status.equals("PASSED") && size == null) continue;
        Map<String, Object> trace = new LinkedHashMap<>();
        trace.put("definition", task.name());
        trace.put("workload", content(each, tensors, custom));
        trace.put("solution", name);
        trace.put("evaluation", evaluation(verdict.judgement(), status, size));
        made.add(trace);
      }
    } catch (IOException e) {
      return List.of(); // The suite has changed since.
    }
    return made;
  }

  private static List<Workload> workloads(Task task) throws IOException {
    List<Workload> found = new ArrayList<>();
    for (String line : ByteOrderMark.read(task.file()).lines().toList()) {
      Matcher matcher = WORKLOAD.matcher(line);
      if (!matcher.matches()) continue;
      found.add(
          new Workload(
              text(matcher.group(1)),
              dict(matcher.group(2)),
              dict(matcher.group(3)),
              recorded(matcher.group(4)),
              dict(matcher.group(5))));
    }
    return found;
  }

  private static Map<String, Object> recorded(@Nullable String files) {
    Map<String, Object> found = new LinkedHashMap<>();
    RECORDED
        .matcher(files == null ? "" : files)
        .results()
        .forEach(each ->
            found.put(
                text(each.group(1)),
                Map.of(
                    "type", "safetensors",
                    "path", text(each.group(2)),
                    "tensor_key", text(each.group(3)))));
    return found;
  }

  private static String text(String quoted) {
    return Json.mapper().readTree(quoted).asString();
  }

  @SuppressWarnings("unchecked") // A JSON object has text for names.
  private static Map<String, Object> dict(@Nullable String python) {
    if (python == null) return Map.of();
    String json = python.replaceAll(": True\\b", ": true").replaceAll(": False\\b", ": false");
    return Json.mapper().readValue(json, Map.class);
  }

  private static Map<String, Object> content(
      Workload workload, DefinedTensors tensors, boolean custom) {
    Map<String, Object> inputs = new LinkedHashMap<>();
    for (String name : tensors.inputs().keySet()) {
      Object value = workload.scalars().get(name);
      Object drawn =
          workload.recorded().getOrDefault(name, Map.of("type", custom ? "custom" : "random"));
      inputs.put(name, value == null ? drawn : Map.of("type", "scalar", "value", value));
    }
    Map<String, Object> content = new LinkedHashMap<>();
    content.put("uuid", workload.uuid());
    content.put("axes", workload.axes());
    content.put("inputs", inputs);
    if (!workload.tolerance().isEmpty()) content.put("tolerance", workload.tolerance());
    return content;
  }

  /** The timed size of each workload: that whose tensors have its shapes. */
  private static Map<Workload, SizeTiming> timed(
      Verdict verdict, DefinedTensors tensors, List<Workload> workloads) {
    Map<Workload, SizeTiming> found = new HashMap<>();
    for (SizeTiming size :
        Objects.requireNonNullElse(verdict.judgement().sizes(), List.<SizeTiming>of())) {
      List<List<Integer>> shapes = shapes(size.shape());
      workloads.stream()
          .filter(each -> !found.containsKey(each) && fits(each, tensors, shapes))
          .findFirst()
          .ifPresent(each -> found.put(each, size));
    }
    return found;
  }

  private static List<List<Integer>> shapes(String words) {
    return SHAPE
        .matcher(words)
        .results()
        .map(found ->
            Arrays.stream(found.group(1).split(", "))
                .filter(axis -> !axis.isBlank())
                .map(Integer::valueOf)
                .toList())
        .toList();
  }

  private static boolean fits(
      Workload workload, DefinedTensors tensors, List<List<Integer>> shapes) {
    List<List<String>> named =
        tensors.inputs().values().stream()
            .map(DefinedTensors.Spec::shape)
            .flatMap(shape -> Optional.ofNullable(shape).stream())
            .toList();
    if (named.size() != shapes.size()) return false;
    for (int i = 0; i < named.size(); i++) {
      if (named.get(i).size() != shapes.get(i).size()) return false;
      for (int k = 0; k < named.get(i).size(); k++) {
        Object size = workload.axes().get(named.get(i).get(k));
        if (size instanceof Number n && n.intValue() != shapes.get(i).get(k)) return false;
      }
    }
    return true;
  }

  private Map<String, Object> evaluation(
      Judgement judgement, String status, @Nullable SizeTiming size) {
    Map<String, Object> evaluation = new LinkedHashMap<>();
    evaluation.put("status", status);
    Instant when = run.finished() == null ? run.started() : run.finished();
    Map<String, String> libs = new TreeMap<>(judgement.versions());
    evaluation.put("environment", Map.of("hardware", hardware(judgement), "libs", libs));
    evaluation.put("timestamp", when.toString());
    String message = judgement.message() == null ? "" : ": " + judgement.message();
    evaluation.put("log", "kbx %s%s".formatted(judgement.status().label(), message));
    if (status.equals("PASSED") || status.equals("INCORRECT_NUMERICAL")) {
      Map<String, Double> errors =
          Objects.requireNonNullElse(judgement.errorMetrics(), Map.<String, Double>of());
      Map<String, Object> correctness = new LinkedHashMap<>();
      if (errors.containsKey("max_rel")) {
        correctness.put("max_relative_error", errors.get("max_rel"));
      }
      if (errors.containsKey("max_abs")) {
        correctness.put("max_absolute_error", errors.get("max_abs"));
      }
      if (!correctness.isEmpty()) evaluation.put("correctness", correctness);
    }
    if (size != null) {
      Map<String, Object> performance = new LinkedHashMap<>();
      performance.put("latency_ms", size.candidateMs());
      performance.put("reference_latency_ms", size.referenceMs());
      performance.put("speedup_factor", size.speedup());
      evaluation.put("performance", performance);
    }
    return evaluation;
  }

  /** By the benchmarks' names; null of what says nothing of the candidate. */
  private static @Nullable String status(Judgement judgement) {
    return switch (judgement.status()) {
      case CORRECT -> "PASSED";
      case WRONG_SHAPE, WRONG_STRUCTURE -> "INCORRECT_SHAPE";
      case WRONG_DTYPE -> "INCORRECT_DTYPE";
      // A trace of wrong values has its errors.
      case WRONG_VALUES, NONDETERMINISTIC ->
          judgement.errorMetrics() == null ? "RUNTIME_ERROR" : "INCORRECT_NUMERICAL";
      case COMPILE_ERROR, SYNTAX_ERROR, NO_CODE, NO_ENTRY, IMPORT_ERROR -> "COMPILE_ERROR";
      case TIMEOUT -> "TIMEOUT";
      case INFRASTRUCTURE, INVALID_TASK -> null;
      default -> "RUNTIME_ERROR";
    };
  }
}
