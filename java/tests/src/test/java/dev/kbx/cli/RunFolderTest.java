package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.kbx.verdict.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** A run folder of KernelBench goes in, {@code eval_results.json} comes out. */
class RunFolderTest {
  static final String RELU =
      """
      import torch
      import triton
      import triton.language as tl
      from torch import nn


      @triton.jit
      def relu(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
          i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
          x = tl.load(x_ptr + i, mask=i < n)
          tl.store(y_ptr + i, tl.maximum(x, 0.0), mask=i < n)


      class ModelNew(nn.Module):
          def __init__(self):
              super().__init__()

          def forward(self, x):
              y = torch.empty_like(x)
              n = x.numel()
              relu[(triton.cdiv(n, 1024),)](x, y, n, BLOCK=1024)
              return y
      """;

  @TempDir private Path folder;

  private Path write(String name, String text) throws IOException {
    Path file = folder.resolve("run").resolve(name);
    Files.createDirectories(folder.resolve("run"));
    return Files.writeString(file, text);
  }

  @Test
  void everySampleHasAnEntry() throws Exception {
    write("level_1_problem_19_sample_0_kernel.py", RELU);
    write("level_1_problem_19_sample_1_kernel.py", RELU.replace("(x, 0.0)", "(x, 0.5)"));
    write("level_1_problem_19_sample_4_kernel.py", RELU.replace("BLOCK=1024)", "BLOCK=1000)"));
    write("level_1_problem_101_sample_0_kernel.py", RELU);
    write("level_1_problem_19_sample_0_prompt.txt", "Write ReLU.");
    write("generation_config.yaml", "level: 1\n");
    String before = "{\"19\": [{\"sample_id\": 0, \"metadata\": {}}]}";
    Path theirs = write("eval_results.json", before);
    Kbx.Result result =
        Kbx.here(
            "eval",
            folder.resolve("run"),
            "--suite",
            "kernelbench",
            "--device",
            "cpu",
            "--jobs",
            1,
            "--json",
            "--out",
            folder.resolve("kbx-out"));
    assertThat(result.exit()).as(result.err()).isZero();
    assertThat(result.json().get("problems").values())
        .extracting(JsonNode::stringValue)
        .containsExactly(
            folder.resolve("run/level_1_problem_101_sample_0_kernel.py")
                + ": level 1 of suite kernelbench has no problem 101; it has 1 to 100");
    JsonNode results =
        Json.mapper().readTree(Files.readString(folder.resolve("kbx-out/eval_results.json")));
    assertThat(results.propertyNames()).containsExactly("19");
    JsonNode entries = results.get("19");
    assertThat(entries.values())
        .extracting(RunFolderTest::inShort)
        .containsExactly(
            "0 correct true true", "1 wrong_values true false", "4 compile_error false false");
    JsonNode metadata = entries.get(0).get("metadata");
    assertThat(metadata.get("correctness_trials").stringValue()).isEqualTo("(5 / 5)");
    assertThat(metadata.get("kbx").get("flags").toString()).isEqualTo("[\"scaled_inputs\"]");
    assertThat(entries.get(2).get("metadata").get("kbx").get("message").stringValue())
        .contains("power of 2");
    assertThat(entries.values()).allMatch(entry -> entry.get("runtime").doubleValue() == -1);
    assertThat(Files.readString(theirs)).isEqualTo(before);
    comesOutAgain();
  }

  /** What went in comes out, save what is for no task, and with kbx's results. */
  private void comesOutAgain() throws Exception {
    Path back = folder.resolve("back");
    Path out = folder.resolve("kbx-out");
    Kbx.Result exported = Kbx.here("export", "kernelbench", back, "--out", out);
    assertThat(exported.exit()).as(exported.err()).isZero();
    assertThat(exported.err())
        .contains("3 kernels, 1 prompt, generation_config.yaml in " + back)
        .contains("kbx: 1 correct kernel without a runtime: KernelBench's analysis script reads -1")
        .hasLineCount(2);
    Map<String, String> files = texts(back);
    assertThat(files.remove("eval_results.json"))
        .isEqualTo(Files.readString(out.resolve("eval_results.json")));
    Map<String, String> went = texts(folder.resolve("run"));
    went.keySet().removeAll(Set.of("eval_results.json", "level_1_problem_101_sample_0_kernel.py"));
    assertThat(files).isEqualTo(went);
    Kbx.Result again = Kbx.here("export", "kernelbench", back, "--out", out);
    assertThat(again.exit()).isEqualTo(ExitCode.USAGE);
    assertThat(again.err()).contains(back + ": is not empty; name a new folder");
  }

  private static Map<String, String> texts(Path from) throws IOException {
    Map<String, String> texts = new TreeMap<>();
    try (Stream<Path> files = Files.list(from)) {
      for (Path file : files.toList()) {
        texts.put(file.getFileName().toString(), Files.readString(file));
      }
    }
    return texts;
  }

  private static String inShort(JsonNode entry) {
    return String.join(
        " ",
        entry.get("sample_id").toString(),
        entry.get("metadata").get("kbx").get("status").stringValue(),
        entry.get("compiled").toString(),
        entry.get("correctness").toString());
  }

  @Test
  void resultsBelowTheSourcesAreNotReadAsSources() throws IOException {
    write("level_1_problem_19_sample_0_kernel.py", RELU);
    write("19_ReLU.py", RELU + "\n");
    Path run = folder.resolve("run");
    Object[] eval = {"eval", run, "--suite", "kernelbench", "--stages", "static", "--out", run};
    for (int times = 0; times < 2; times++) {
      Kbx.Result result = Kbx.here(eval);
      assertThat(result.exit()).as(result.err()).isZero();
      assertThat(result.err()).doesNotContain("problem with", "problems with");
    }
    assertThat(Kbx.here("check", folder, "--suite", "kernelbench").err()).isEmpty();
    JsonNode entries = Json.mapper().readTree(run.resolve("eval_results.json")).get("19");
    assertThat(entries.values())
        .extracting(
            entry -> entry.get("sample_id") + " " + entry.at("/metadata/kbx/source").stringValue())
        .containsExactly(
            "0 " + run.resolve("level_1_problem_19_sample_0_kernel.py"),
            "1 " + run.resolve("19_ReLU.py"));
    Path results = run.resolve("results.jsonl");
    Kbx.Result alone = Kbx.here("eval", results, "--suite", "kernelbench", "--out", run);
    assertThat(alone.exit()).isEqualTo(ExitCode.USAGE);
    assertThat(alone.err())
        .isEqualTo(
            "kbx: "
                + results
                + ": holds kbx's results, no predictions;"
                + " give what was judged there\n");
  }

  @Test
  void kernelsOfTwoModelsHaveSeparateEntries() throws IOException {
    String line = "{\"file\": \"19_ReLU\", \"predict\": \"x = %s\", \"model\": \"%s\"}\n";
    Path both = write("both.jsonl", line.formatted(1, "one") + line.formatted(2, "other"));
    Path out = folder.resolve("out");
    Kbx.Result judged =
        Kbx.here(
            "eval", both, "--suite", "kernelbench", "--stages", "static", "--out", out, "--json");
    assertThat(judged.json().get("verdicts").size()).as(judged.err()).isEqualTo(2);
    JsonNode entries = Json.mapper().readTree(out.resolve("eval_results.json")).get("19");
    assertThat(entries.values())
        .extracting(
            entry -> entry.get("sample_id").intValue(),
            entry -> entry.at("/metadata/kbx/model").stringValue(),
            entry -> entry.at("/metadata/kbx/sample").asInt(-1))
        .containsExactly(tuple(0, "one", -1), tuple(1, "other", 0));
    for (String model : List.of("one", "other")) {
      assertThat(Json.mapper().readTree(out.resolve("metrics." + model + ".json")).propertyNames())
          .containsExactly("level1/19_ReLU.py");
      JsonNode summary = Json.mapper().readTree(out.resolve("summary." + model + ".json"));
      assertThat(summary.get("model").stringValue()).isEqualTo(model);
    }
    assertThat(Files.exists(out.resolve("metrics.json"), LinkOption.NOFOLLOW_LINKS)).isFalse();
    Kbx.Result exported = Kbx.here("export", "kernelbench", folder.resolve("back"), "--out", out);
    assertThat(exported.exit()).isEqualTo(ExitCode.USAGE);
    assertThat(exported.err())
        .contains("several candidates for sample 0 of level1/19_ReLU", "a run folder has one");
    assertThat(folder.resolve("back")).doesNotExist();
  }

  @Test
  void resultsOfKernelBenchAreNotReplaced() throws IOException {
    Path kernel = write("level_1_problem_19_sample_0_kernel.py", RELU);
    Path theirs = write("eval_results.json", "{\"19\": []}");
    Path run = folder.resolve("run");
    Kbx.Result result = Kbx.here("eval", kernel, "--suite", "kernelbench", "--out", run);
    assertThat(result.exit()).isEqualTo(ExitCode.USAGE);
    assertThat(result.err())
        .contains(theirs + ": was not written by kbx and would be replaced; give another --out");
    assertThat(Files.readString(theirs)).isEqualTo("{\"19\": []}");
  }
}
