package dev.kbx.app;

import dev.kbx.files.AtomicFile;
import dev.kbx.files.UnwritableException;
import dev.kbx.generate.Transcript.Kernel;
import dev.kbx.generate.Transcript.Trajectory;
import dev.kbx.report.LineDiff;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.Verdict.SizeTiming;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** What methods wrote, in the JSONL files of other systems. */
final class TranscriptExport {
  private static final String PREDICTIONS = "predictions.jsonl";
  private static final String CORPUS = "corpus.jsonl";

  private final Path folder;
  private final List<Trajectory> trajectories;
  private final Map<String, Map<String, String>> conditions;

  /**
   * @param folder empty, or not there yet
   * @param conditions of each method, by its name
   */
  TranscriptExport(
      Path folder, List<Trajectory> trajectories, Map<String, Map<String, String>> conditions) {
    this.folder = folder;
    this.trajectories = trajectories;
    this.conditions = conditions;
  }

  /**
   * KernelBench-X predictions: the answer of each trajectory, or with rounds every kernel.
   *
   * @return lines written
   */
  int predictions(boolean rounds) {
    StringBuilder lines = new StringBuilder();
    int count = 0;
    for (Trajectory each : trajectories) {
      List<Kernel> kernels =
          rounds ? each.kernels() : Optional.ofNullable(each.answer()).stream().toList();
      for (Kernel kernel : kernels) {
        ObjectNode row = Json.mapper().createObjectNode();
        row.put("file", each.task() + ".py").put("predict", kernel.code());
        row.put("method", each.method()).put("model", each.model());
        // Several kernels of one round are samples of it: their numbers are given when read.
        if (rounds) row.put("round", kernel.round());
        else row.put("sample", each.sample());
        Map<String, String> own = conditions.get(each.method());
        if (own != null) row.set("conditions", Json.mapper().valueToTree(own));
        lines.append(Json.mapper().writeValueAsString(row)).append('\n');
        count++;
      }
    }
    if (count > 0) write(PREDICTIONS, lines.toString());
    return count;
  }

  /**
   * GEAK's files: {@code METHOD_0.jsonl} with the best kernel of each task after the first round,
   * {@code METHOD_1.jsonl} after the second, and so on.
   *
   * @param references source of a task's reference, where it is known
   * @return lines written
   */
  int geak(Map<String, String> references) {
    Map<String, StringBuilder> files = new TreeMap<>();
    int count = 0;
    for (Trajectory each : trajectories) {
      for (int round = 0; round < each.rounds(); round++) {
        Kernel best = each.best(round).orElse(null);
        if (best == null) continue;
        files
            .computeIfAbsent(
                "%s%s_%d.jsonl".formatted(each.method(), sample(each), round),
                _ -> new StringBuilder())
            .append(Json.mapper().writeValueAsString(geakRow(each, best, references)))
            .append('\n');
        count++;
      }
    }
    files.forEach((name, lines) -> write(name, lines.toString()));
    return count;
  }

  private static String sample(Trajectory of) {
    return of.sample() == 0 ? "" : "-sample" + of.sample();
  }

  private static ObjectNode geakRow(Trajectory each, Kernel best, Map<String, String> references) {
    ObjectNode row = Json.mapper().createObjectNode();
    row.put("instruction", each.firstPrompt());
    if (references.containsKey(each.task())) row.put("label", references.get(each.task()));
    row.put("filename", each.task().substring(each.task().indexOf('/') + 1) + ".py");
    row.put("predict", best.code());
    Double speedup = speedup(best);
    if (speedup != null) row.put("speedup", speedup);
    row.put("file", each.task() + ".py");
    return row;
  }

  /**
   * KernelBench-X's corpus: from round to round the best kernel so far, and what changed.
   *
   * @return lines written
   */
  int corpus() {
    StringBuilder lines = new StringBuilder();
    int count = 0;
    for (Trajectory each : trajectories) {
      for (int round = 1; round < each.rounds(); round++) {
        Kernel before = each.best(round - 1).orElse(null);
        Kernel after = each.best(round).orElse(null);
        if (before == null || after == null) continue;
        ObjectNode row = CorpusRow.of(each, round - 1, before, after);
        lines.append(Json.mapper().writeValueAsString(row)).append('\n');
        count++;
      }
    }
    if (count > 0) write(CORPUS, lines.toString());
    return count;
  }

  static @Nullable Double speedup(Kernel kernel) {
    if (kernel.judgement() == null || kernel.judgement().speedup() == null) return null;
    return kernel.judgement().speedup().value();
  }

  private void write(String name, String text) {
    Path file = folder.resolve(name);
    UnwritableException.naming(file, () -> Files.createDirectories(folder));
    AtomicFile.replace(file, writer -> writer.write(text));
  }

  /** The names of methods, for messages. */
  static String names(List<Trajectory> of) {
    return of.stream().map(Trajectory::method).distinct().collect(Collectors.joining(", "));
  }

  /** A line of KernelBench-X's published iteration corpus. What was not measured is null there. */
  private static final class CorpusRow {
    private CorpusRow() {}

    static ObjectNode of(Trajectory each, int round, Kernel before, Kernel after) {
      String task = each.task() + ".py";
      String from = "round_" + round;
      String to = "round_" + (round + 1);
      ObjectNode row = Json.mapper().createObjectNode();
      row.put("task_id", task).put("transition", from + "_to_" + to);
      row.put("from_round", from).put("to_round", to);
      List<String> kinds = kinds(before.judgement(), after.judgement());
      row.put("kind", String.join(",", kinds));
      row.set("before", figures(before.judgement()));
      row.set("after", figures(after.judgement()));
      row.put("before_code_present", true).put("after_code_present", true);
      row.put("before_code", before.code()).put("after_code", after.code());
      LineDiff diff = new LineDiff(before.code(), after.code());
      row.put("unified_diff", diff.unified(task + "::before", task + "::after"));
      row.putObject("diff_stats")
          .put("lines_a", diff.linesBefore())
          .put("lines_b", diff.linesAfter())
          .put("similarity_ratio", diff.similarity());
      row.putObject("llm_fields");
      row.put("notes", "judged by kbx on development inputs");
      row.put("method", each.method()).put("model", each.model()).put("sample", each.sample());
      return row;
    }

    private static List<String> kinds(@Nullable Judgement before, @Nullable Judgement after) {
      List<String> kinds = new ArrayList<>();
      if (before == null || after == null) return kinds;
      change(kinds, "call", before.callOk(), after.callOk());
      change(kinds, "exe", before.exeOk(), after.exeOk());
      change(kinds, "perf", before.perfOk(), after.perfOk());
      if (faster(before, after)) kinds.add("speedup_increase");
      return kinds;
    }

    private static void change(
        List<String> kinds, String stage, @Nullable Boolean before, @Nullable Boolean after) {
      if (before == null || after == null || before.equals(after)) return;
      if (!after) kinds.add("regression_" + stage);
      else kinds.add(stage.equals("perf") ? "perf_ok_newly" : stage + "_fail_to_pass");
    }

    /** Intervals that overlap are no increase. */
    private static boolean faster(Judgement before, Judgement after) {
      return before.speedup() != null
          && after.speedup() != null
          && after.speedup().low() > before.speedup().high();
    }

    private static ObjectNode figures(@Nullable Judgement found) {
      ObjectNode node = Json.mapper().createObjectNode();
      if (found == null) return node;
      node.put("call_ok", found.callOk()).put("exe_ok", found.exeOk());
      node.put("perf_ok", found.perfOk());
      List<SizeTiming> sizes = found.sizes() == null ? List.of() : found.sizes();
      if (sizes.isEmpty()) node.putNull("runtime_ms");
      else node.put("runtime_ms", sizes.stream().mapToDouble(SizeTiming::candidateMs).sum());
      if (found.speedup() == null) node.putNull("speedup");
      else node.put("speedup", found.speedup().value());
      node.put("error", found.message() == null ? "" : found.message());
      return node;
    }
  }
}
