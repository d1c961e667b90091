package dev.kbx.task;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.Bundled;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The bundled KernelBench suite as it is read without running Python, against the published one;
 * what only running it shows is {@code worker/tests/test_kernelbench.py}'s.
 */
class KernelBenchTest {
  private static final Suite SUITE = Bundled.suite("kernelbench");

  private static List<JsonNode> published() throws IOException {
    return Files.readAllLines(Path.of("java/tests/src/test/resources/suites/kernelbench.jsonl"))
        .stream()
        .map(line -> JsonMapper.shared().readTree(line))
        .toList();
  }

  @Test
  void allTasksAreUsableAndOrderedByNumber() {
    assertThat(SUITE.broken()).isEmpty();
    Map<String, List<String>> levels =
        SUITE.tasks().stream()
            .collect(
                Collectors.groupingBy(
                    Task::category, Collectors.mapping(Task::name, Collectors.toList())));
    assertThat(levels.get("level1")).hasSize(100).startsWith("1_Square_matrix_multiplication_");
    assertThat(levels.get("level2")).hasSize(100).endsWith("100_ConvTranspose3d_Clamp_Min_Divide");
    assertThat(levels.get("level3")).hasSize(50);
    assertThat(levels.get("level1")).element(9).isEqualTo("10_3D_tensor_matrix_multiplication");
  }

  @Test
  void signaturesArePublished() throws Exception {
    Map<String, Task> tasks =
        SUITE.tasks().stream().collect(Collectors.toMap(Task::path, Function.identity()));
    for (JsonNode row : published()) {
      String path = "level" + row.get("level").asInt() + "/" + row.get("name").asString();
      Task task = requireNonNull(tasks.get(path), path);
      String wanted =
          "ModelNew" + called(row.get("constructor")) + ".forward" + called(row.get("forward"));
      assertThat(plain(task.signature())).as(path).isEqualTo(plain(wanted));
    }
  }

  /** As its caller sees a method. */
  private static String called(JsonNode signature) {
    return signature.asString().replaceFirst("^\\(self(, )?", "(");
  }

  /** Without what only differs in how it is spelled. */
  private static String plain(String signature) {
    return signature
        .replaceAll("<class '[\\w.]*\\.(\\w+)'>", "nn.$1")
        .replaceAll("e-0(\\d)", "e-$1")
        .replaceAll("[' \"]|typing\\.", "");
  }

  @Test
  void aPromptHasTheModelAndAsksForModelNew() {
    Task task = SUITE.find("level2/1_Conv2D_ReLU_BiasAdd").getFirst();
    assertThat(task.entries()).containsExactly("ModelNew");
    assertThat(Bundled.STATEMENT.general(task, Policy.MIXED, null))
        .contains(
            "class Model(nn.Module):", "defines `ModelNew`", "ModelNew(in_channels, out_channels,")
        .doesNotContain("class Positive", "class Negative", "PUBLISHED");
  }
}
