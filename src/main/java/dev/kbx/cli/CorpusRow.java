package dev.kbx.cli;

import dev.kbx.generate.Transcript.Kernel;
import dev.kbx.generate.Transcript.Trajectory;
import dev.kbx.report.LineDiff;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.Verdict.SizeTiming;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** A line of KernelBench-X's published iteration corpus. What was not measured is null there. */
final class CorpusRow {
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
