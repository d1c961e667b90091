package dev.kbx.task;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.Bundled;
import dev.kbx.verdict.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Sizes as they are read off task files, against the published ones and in files made up. */
class SizesTest {
  @TempDir private Path folder;

  @Test
  void sizesOfBundledModulesAreAsPublished() throws Exception {
    Map<String, Task> tasks =
        Bundled.suite("kernelbench").tasks().stream()
            .collect(Collectors.toMap(Task::path, task -> task));
    List<String> untold = new ArrayList<>();
    for (String line :
        Files.readAllLines(Path.of("java/tests/src/test/resources/suites/kernelbench.jsonl"))) {
      JsonNode row = JsonMapper.shared().readTree(line);
      String path = "level" + row.get("level").asInt() + "/" + row.get("name").asString();
      Sizes sizes = Sizes.of(requireNonNull(tasks.get(path), path));
      assertThat(sizes.stated()).as(path).hasSize(1);
      if (sizes.constructor() == null) untold.add(path + " constructor");
      else
        assertThat(plain(sizes.constructor().values())).as(path).isEqualTo(wanted(row.get("init")));
      if (sizes.inputs() == null) untold.add(path + " inputs");
      else assertThat(plain(sizes.inputs().values())).as(path).isEqualTo(wanted(row.get("inputs")));
    }
    // They loop, choose or compute with tensors; their sizes are stated by name.
    assertThat(untold)
        .containsExactlyInAnyOrder(
            "level1/51_Argmax_over_a_dimension inputs",
            "level1/52_Argmin_over_a_dimension inputs",
            "level1/90_cumprod inputs",
            "level1/94_MSELoss inputs",
            "level1/96_HuberLoss inputs",
            "level1/97_ScaledDotProductAttention inputs",
            "level1/98_KLDivLoss inputs",
            "level1/99_TripletMarginLoss inputs",
            "level2/66_Matmul_Dropout_Softmax constructor");
  }

  private Task task(String text) throws IOException {
    Path file = folder.resolve("mini/Math/f.py");
    Files.createDirectories(folder.resolve("mini/Math"));
    Files.writeString(file, text);
    return Suites.open("mini", folder).find("f").getFirst();
  }

  @Test
  void sizesAreStatedWithTheirWeights() throws Exception {
    String text = "\"f\"\nSIZES = [dict(n=1), dict(n=2)]\nWEIGHTS = %s\ndef f(x): return x\n";
    assertThat(Sizes.of(task(text.formatted("[3, 0.5]"))).stated())
        .containsExactly("n=1 (weight 3)", "n=2 (weight 0.5)");
    assertThat(Sizes.of(task(text.formatted("[1]"))).stated()).containsExactly("n=1", "n=2");
  }

  @Test
  void sizesOfAFunctionAreAsStated() throws Exception {
    Task task =
        task(
            """
            "f"
            DTYPE = "float32"
            SIZES = [dict(shape=(4, 5), dtype=torch.int8), dict(
                shape=(6,),  # one
                dim=0,
            )]
            CASES = [dict(shape=(1,))]
            def f(x): return x
            """);
    assertThat(Sizes.of(task).stated())
        .containsExactly("shape=(4, 5), dtype=torch.int8", "shape=(6,), dim=0");
    assertThat(TaskView.text(task))
        .contains("\nsizes       shape=(4, 5), dtype=torch.int8\n            shape=(6,), dim=0\n");
    assertThat(Bundled.STATEMENT.general(task, Policy.MIXED, null))
        .contains("\n## Sizes\n\n", "\n- `shape=(6,), dim=0`\n")
        .contains("`input_precision=\"ieee\"`");
    assertThat(Json.mapper().writeValueAsString(TaskView.of(task)))
        .contains("\"sizes\":{\"stated\":[\"shape=(4, 5), dtype=torch.int8\",");
  }

  @Test
  void precisionFollowsTheTask() throws Exception {
    String code = "'f'\nDTYPE = 'float32'\ndef f(x): return x\n";
    assertThat(Precision.of(task(code))).isEqualTo(Precision.FLOAT32);
    assertThat(Precision.of(task(code + "CONTRACT = Close(tf32=True)"))).isEqualTo(Precision.FREE);
    assertThat(Precision.of(task(code.replace("32", "16")))).isEqualTo(Precision.FREE);
    assertThat(Precision.of(task(code + "TAGS = ('imported',)"))).isEqualTo(Precision.FREE);
    assertThat(Bundled.STATEMENT.general(task(code.replace("32", "16")), Policy.MIXED, null))
        .doesNotContain("ieee", "## Sizes");
  }

  private static final String MODEL =
      "class Model:\n  def __init__(self, a: int, b=2): 0\n  def forward(self, x, y): return x\n";

  @Test
  void sizesOfAnImportedModuleAreThoseOfItsOriginal() throws Exception {
    String original =
        MODEL
            + """
            batch_size = 4096
            dim, other = 2 * 8, (3, 5)
            if unknown:
                other = 7
            def get_inputs():
                x = torch.rand(batch_size, dim)  # here
                return [x, torch.randint(0, dim, (batch_size,))]
            def get_init_inputs():
                return [dim]
            """;
    Sizes sizes = Sizes.of(imported(original));
    assertThat(sizes.stated()).containsExactly("batch_size=4096, dim=16");
    assertThat(sizes.constructor()).containsExactly(Map.entry("a", "16"));
    assertThat(sizes.inputs())
        .containsExactly(Map.entry("x", "float32 (4096, 16)"), Map.entry("y", "int64 (4096,)"));
  }

  @Test
  void undecidableSizesAreAbsent() throws Exception {
    String loop = "n = 4\ndef get_inputs():\n  for i in f(): n = i\n  return [torch.rand(n), 1]\n";
    assertThat(Sizes.of(imported(MODEL + loop))).isEqualTo(new Sizes(List.of("n=4"), null, null));
    String computed = "def get_inputs():\n  return [torch.rand(load()), 1]\n";
    assertThat(Sizes.of(imported(MODEL + computed)).isEmpty()).isTrue();
  }

  private Task imported(String original) throws IOException {
    Path file = Files.writeString(folder.resolve("original.py"), original);
    return task("'f'\nTAGS = ('imported',)\nFILE = '" + file + "'\nORIGINAL = g()\n" + MODEL);
  }

  /** {@code float32 (2, 3)} as the published list has it: {@code [float32, 2, 3]}. */
  private static String plain(Iterable<String> values) {
    return StreamSupport.stream(values.spliterator(), false)
        .map(value -> value.replaceFirst("^(\\w+\\d\\d|bool) \\((.*)\\)$", "[$1, $2]"))
        .map(SizesTest::same)
        .toList()
        .toString();
  }

  private static String wanted(JsonNode values) {
    return StreamSupport.stream(values.spliterator(), false)
        .map(value -> same(value.toString()))
        .toList()
        .toString();
  }

  private static String same(String text) {
    return text.replaceAll("[\" ]", "")
        .replaceAll(",([)\\]])", "$1")
        .replace('(', '[')
        .replace(')', ']')
        .replace("True", "true")
        .replace("False", "false")
        .replace("1.0E-5", "1e-05");
  }
}
