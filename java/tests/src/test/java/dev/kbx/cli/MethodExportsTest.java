package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.Bundled;
import dev.kbx.candidate.Candidate;
import dev.kbx.candidate.CandidateSources;
import dev.kbx.candidate.Reading;
import dev.kbx.llm.ScriptedProvider;
import dev.kbx.llm.ScriptedReply;
import dev.kbx.verdict.Json;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Runs of methods leave as files of other systems, and come back from them. */
class MethodExportsTest {
  @TempDir private Path folder;

  private Path models(ScriptedProvider provider) throws Exception {
    return Files.writeString(
        folder.resolve("models.toml"),
        """
        [[model]]
        name = "scripted"
        provider = "openai"
        base_url = "%s"
        """
            .formatted(provider.address()));
  }

  private static String fenced(String code) {
    return "```python\n" + code + "\n```\n";
  }

  private Kbx.Result export(String format, String target, Object... more) {
    List<Object> words = new ArrayList<>(List.of("export", format));
    words.add(folder.resolve(target));
    words.addAll(List.of("--out", folder.resolve("out")));
    words.addAll(List.of(more));
    return Kbx.here(words.toArray());
  }

  private List<JsonNode> rows(String file) throws Exception {
    return Files.readAllLines(folder.resolve(file)).stream()
        .map(line -> Json.mapper().readTree(line))
        .toList();
  }

  @Test
  void roundsOfARefinedKernel() throws Exception {
    String right = Files.readString(Path.of("tasks/kernelbenchx/Activation/kernels/tanh.py"));
    String wrong = right.replace("libdevice.tanh(x)", "(0.5 * libdevice.tanh(x))");
    try (ScriptedProvider provider =
        ScriptedProvider.start(
            asked -> ScriptedReply.text(fenced(asked.number() == 1 ? wrong : right)))) {
      Kbx.Result result =
          Kbx.here(
              "generate",
              "--method",
              "refine",
              "--turns",
              2,
              "--model",
              "scripted",
              "--models",
              models(provider),
              "--tasks",
              "Activation/tanh",
              "--device",
              "cpu",
              "--out",
              folder.resolve("out"));
      assertThat(result.exit()).as(result.err()).isZero();
    }

    assertThat(export("predictions", "answers").exit()).isZero();
    JsonNode answer = rows("answers/predictions.jsonl").getFirst();
    assertThat(answer.path("file").asString()).isEqualTo("Activation/tanh.py");
    assertThat(answer.path("predict").asString()).isEqualToIgnoringWhitespace(right);
    assertThat(answer.path("method").asString()).isEqualTo("refine");
    assertThat(answer.path("model").asString()).isEqualTo("scripted");

    assertThat(export("predictions", "all", "--rounds").exit()).isZero();
    Reading all =
        CandidateSources.read(List.of(folder.resolve("all")), Bundled.suite("kernelbenchx"));
    assertThat(all.problems()).isEmpty();
    assertThat(all.candidates()).extracting(Candidate::round).containsExactly(0, 1);

    assertThat(export("geak", "geak").exit()).isZero();
    JsonNode first = rows("geak/refine_0.jsonl").getFirst();
    assertThat(first.path("filename").asString()).isEqualTo("tanh.py");
    assertThat(first.path("instruction").asString()).contains("tanh");
    assertThat(first.path("label").asString()).contains("torch.tanh");
    assertThat(first.path("predict").asString()).isEqualToIgnoringWhitespace(wrong);
    JsonNode second = rows("geak/refine_1.jsonl").getFirst();
    assertThat(second.path("predict").asString()).isEqualToIgnoringWhitespace(right);
    Reading geak =
        CandidateSources.read(List.of(folder.resolve("geak")), Bundled.suite("kernelbenchx"));
    assertThat(geak.candidates()).extracting(Candidate::round).containsExactly(0, 1);

    assertThat(export("corpus", "corpus").exit()).isZero();
    JsonNode change = rows("corpus/corpus.jsonl").getFirst();
    assertThat(change.path("task_id").asString()).isEqualTo("Activation/tanh.py");
    assertThat(change.path("transition").asString()).isEqualTo("round_0_to_round_1");
    assertThat(change.path("kind").asString()).isEqualTo("exe_fail_to_pass");
    assertThat(change.at("/before/exe_ok").asBoolean(true)).isFalse();
    assertThat(change.at("/after/exe_ok").asBoolean()).isTrue();
    assertThat(change.path("unified_diff").asString())
        .startsWith("--- Activation/tanh.py::before\n+++ Activation/tanh.py::after\n@@ -")
        .contains("\n-", "\n+");
    Reading corpus =
        CandidateSources.read(List.of(folder.resolve("corpus")), Bundled.suite("kernelbenchx"));
    assertThat(corpus.candidates()).extracting(Candidate::round).containsExactly(0, 1);
    assertThat(corpus.candidates()).extracting(Candidate::method).containsOnly("refine");

    assertThat(export("geak", "geak").err()).contains("is not empty; name a new folder");
    assertThat(export("geak", "new", "--method", "evolve").err())
        .contains("has none called evolve; it has refine");
    assertThat(export("geak", "new", "--rounds").err()).contains("only predictions have a choice");
    assertThat(export("kernelbenchx", "new").err())
        .isEqualTo(
            "kbx: export: no format 'kernelbenchx'; there are kernelbench, predictions, geak,"
                + " corpus, training, sarif, sol-execbench, flashinfer\n");

    // And back in: a method begins with the last round.
    Kbx.Result shown =
        Kbx.here(
            "generate",
            "--method",
            "refine",
            "--show-prompt",
            "Activation/tanh",
            "--from",
            folder.resolve("corpus/corpus.jsonl"));
    assertThat(shown.exit()).as(shown.err()).isZero();
    assertThat(shown.out()).contains("libdevice.tanh(x)").doesNotContain("0.5 * libdevice");
  }

  @Test
  void aRunFolderWithPromptsAndConfiguration() throws Exception {
    try (ScriptedProvider provider =
        ScriptedProvider.start(_ -> ScriptedReply.text(fenced(RunFolderTest.RELU)))) {
      Kbx.Result result =
          Kbx.here(
              "run",
              "--method",
              "sample",
              "--samples",
              2,
              "--temperature",
              "0.7",
              "--model",
              "scripted",
              "--models",
              models(provider),
              "--suite",
              "kernelbench",
              "--tasks",
              "level1/19",
              "--device",
              "cpu",
              "--out",
              folder.resolve("out"));
      assertThat(result.exit()).as(result.err()).isZero();
    }
    Kbx.Result exported = export("kernelbench", "runs");
    assertThat(exported.exit()).as(exported.err()).isZero();
    assertThat(exported.err()).contains("2 kernels, 2 prompts, generation_config.yaml in ");
    String stem = "runs/level_1_problem_19_sample_1_";
    assertThat(folder.resolve(stem + "kernel.py")).content().contains("class ModelNew");
    assertThat(folder.resolve(stem + "prompt.txt")).content().contains("ModelNew", "19_ReLU");
    assertThat(folder.resolve("runs/generation_config.yaml"))
        .content()
        .contains("level: 1\n", "model_name: \"scripted\"\n", "temperature: 0.7\n")
        .contains("num_samples: 2\n", "prompt_option: \"", "kbx: {");
    assertThat(folder.resolve("runs/eval_results.json")).content().contains("\"19\"");
    Kbx.Result shown =
        Kbx.here(
            "generate",
            "--method",
            "refine",
            "--suite",
            "kernelbench",
            "--show-prompt",
            "level1/19",
            "--from",
            folder.resolve("runs"));
    assertThat(shown.exit()).as(shown.err()).isZero();
    assertThat(shown.out()).contains("relu[(triton.cdiv(n, 1024),)]");
  }
}
