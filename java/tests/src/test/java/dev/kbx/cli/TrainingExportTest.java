package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.PlainParquet;
import dev.kbx.SimulatedRun;
import dev.kbx.llm.ScriptedProvider;
import dev.kbx.llm.ScriptedReply;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.SourceFeatures;
import dev.kbx.verdict.Status;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** {@code kbx export training}: verified kernels and nothing else. */
class TrainingExportTest {
  @TempDir private Path folder;

  private Kbx.Result export(String target, Object... more) {
    List<Object> words = new ArrayList<>(List.of("export", "training", folder.resolve(target)));
    words.addAll(List.of("--out", folder.resolve("out")));
    words.addAll(List.of(more));
    return Kbx.here(words.toArray());
  }

  private List<JsonNode> rows(String target) throws Exception {
    return Files.readAllLines(folder.resolve(target).resolve("training.jsonl")).stream()
        .map(line -> Json.mapper().readTree(line))
        .toList();
  }

  /** The names of the columns of the Parquet file, then its rows as texts. */
  private List<List<String>> parquet(String target) throws Exception {
    return PlainParquet.read(folder.resolve(target).resolve("training.parquet"));
  }

  private List<String> kernels(String target, Object... more) throws Exception {
    Kbx.Result result = export(target, more);
    assertThat(result.exit()).as(result.err()).isZero();
    return rows(target).stream().map(row -> row.get("kernel").asString()).toList();
  }

  private static SourceFeatures structure(String name) {
    return new SourceFeatures(name, 1, 1, List.of());
  }

  private SimulatedRun simulated() {
    SimulatedRun run = SimulatedRun.on(SimulatedRun.H200, 1).by("m").model("gpt");
    run.featuring(structure("one")).correct("Math/exp_sqrt", "slow", 1.1);
    run.correct("Math/exp_sqrt", "renamed and fast", 1.5);
    run.correct("Activation/gelu", "same structure, other task", 0.9);
    run.featuring(structure("two")).published("Math/exp_sqrt", "for the tests alone");
    run.featuring(null).wrong("Math/exp_sqrt", "wrong", Status.WRONG_VALUES);
    return run.store(folder.resolve("out"));
  }

  @Test
  void filtersUseVerifiedFields() throws Exception {
    simulated();
    assertThat(kernels("all"))
        .containsExactly("renamed and fast", "same structure, other task", "for the tests alone");
    assertThat(kernels("near", "--near-duplicates")).hasSize(4).contains("slow");
    assertThat(kernels("general", "--grade", "general"))
        .containsExactly("renamed and fast", "same structure, other task");
    assertThat(kernels("fast", "--min-speedup", "1.05")).containsExactly("renamed and fast");
    JsonNode about = Json.mapper().readTree(folder.resolve("fast/training.json"));
    assertThat(about.get("left_out").toString())
        .isEqualTo(
            "{\"grade\":0,\"near-duplicate\":1,\"not correct\":1,\"policy\":0,\"speedup\":2}");
    Kbx.Result bound = export("bound", "--min-speedup", "1.5");
    assertThat(bound.exit()).as("1.5 is the value, its interval begins below").isEqualTo(1);
    assertThat(bound.err()).contains("no kernel to learn from", "not correct 1, speedup 4");
    assertThat(folder.resolve("bound")).doesNotExist();
  }

  @Test
  void jsonLinesAndParquetAreEqual() throws Exception {
    SimulatedRun run = simulated();
    assertThat(kernels("all", "--licence", "MIT")).hasSize(3);
    JsonNode row = rows("all").getFirst();
    assertThat(row.get("kernel_licence").asString()).isEqualTo("MIT");
    assertThat(row.get("task_licence").asString()).isEqualTo("Apache-2.0");
    assertThat(row.get("run").asString()).isEqualTo(run.id());
    assertThat(row.get("speedup_low").asDouble()).isLessThan(1.5);
    assertThat(row.has("messages") || row.has("reply")).as("no ledger").isFalse();
    List<List<String>> parquet = parquet("all");
    assertThat(parquet).hasSize(4);
    List<String> names = parquet.getFirst();
    for (int i = 0; i < 3; i++) {
      JsonNode line = rows("all").get(i);
      assertThat(names).containsAll(line.propertyNames());
      for (int j = 0; j < names.size(); j++) {
        JsonNode value = line.path(names.get(j));
        if (value.isArray()) continue;
        assertThat(parquet.get(i + 1).get(j)).as(names.get(j)).isEqualTo(value.asString(""));
      }
    }
  }

  @Test
  void promptAndReplyAreInTheLedger() throws Exception {
    String right = Files.readString(Path.of("tasks/kernelbenchx/Activation/kernels/tanh.py"));
    String reply = "Here it is:\n```python\n" + right + "\n```\n";
    try (ScriptedProvider provider = ScriptedProvider.start(_ -> ScriptedReply.text(reply))) {
      Path models = ScriptedModels.write(folder, provider);
      Kbx.Result result =
          Kbx.here(
              "run",
              "--method",
              "single",
              "--model",
              "openai-whole",
              "--models",
              models,
              "--tasks",
              "Activation/tanh",
              "--out",
              folder.resolve("out"));
      assertThat(result.exit()).as(result.err()).isZero();
    }
    assertThat(kernels("all")).hasSize(1);
    JsonNode row = rows("all").getFirst();
    assertThat(row.get("reply").asString()).isEqualTo(reply);
    JsonNode messages = row.get("messages");
    assertThat(messages.get(messages.size() - 1).get("role").asString()).isEqualTo("user");
    assertThat(messages.toString()).contains("tanh");
    assertThat(row.get("method").asString()).isEqualTo("single");
    assertThat(parquet("all").get(1)).contains(reply).anyMatch(cell -> cell.contains("role: user"));
  }

  @Test
  void wrongArgumentsAreOneLineErrors() throws Exception {
    simulated();
    for (List<String> wrong :
        List.of(
            List.of("--min-speedup", "-1"),
            List.of("--policy", "none"),
            List.of("--grade", "best"),
            List.of("--run", "unknown"),
            List.of("--method", "other"))) {
      Kbx.Result result = export("wrong", wrong.toArray());
      assertThat(result.exit()).as(wrong + result.err()).isEqualTo(ExitCode.USAGE);
      assertThat(result.err().lines()).hasSize(1);
    }
    Kbx.Result other =
        Kbx.here("export", "geak", folder.resolve("x"), "--licence", "MIT", "--out", folder);
    assertThat(other.exit()).isEqualTo(ExitCode.USAGE);
    assertThat(other.err()).contains("for the format training");
  }
}
