package dev.kbx.task;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kbx.syntax.SyntaxCheck;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Where task files are looked for in a checkout, and what is taken from them without Python. */
class OriginalsTest {
  private static final String DIVIDER = "#".repeat(146) + "\n";
  private static final String TASK =
      "def f(x, y=[1]):\n    return x\n\n" + DIVIDER + "test_results = f(1)\n";

  @TempDir private Path folder;

  private Path put(String file, String text) throws IOException {
    Path path = folder.resolve(file);
    Files.createDirectories(path.getParent());
    return Files.writeString(path, text);
  }

  private static String text(Originals originals) {
    return ((Checkout.Written) originals.write(originals.files().getFirst(), SyntaxCheck.PARSER))
        .text();
  }

  @Test
  void checkoutIsRecognisedByItsFolders() throws Exception {
    Path file = put("data/kernelbenchx/Math/f.py", TASK);
    put("data/kernelbenchx/Math/_helper.py", "x = 1\n");
    put("data/kernelbenchx/notes/other.py", "x = 1\n");
    put("scripts/tool.py", "line = '#' * 146\n");
    for (String place : List.of("", "data", "data/kernelbenchx", "data/kernelbenchx/Math")) {
      assertThat(Originals.find(folder.resolve(place)).files()).as(place).containsExactly(file);
    }
    Path scripts = folder.resolve("scripts");
    assertThatThrownBy(() -> Originals.find(scripts))
        .isInstanceOf(InvalidSuite.class)
        .hasMessageContaining("holds no task files");
  }

  @Test
  void theAncestorHasNoCategories() throws Exception {
    Path file = put("data/TritonBench_T_v1/f.py", TASK);
    put("data/TritonBench_T_v1.jsonl", "[{\"file\": \"f.py\", \"description\": \"Does f.\"}]");
    Originals originals = Originals.find(folder);
    assertThat(originals.files()).containsExactly(file);
    assertThat(text(originals)).startsWith("\"\"\"Does f.\n").contains("def f(x, y=[1]): ...\n");
  }

  @Test
  void metadataIsFoundInAnyFile() throws Exception {
    put("data/kernelbenchx/Math/f.py", TASK.replace("def f(", "def g("));
    put("data/a.json", "{\"not\": \"this\"}");
    put("data/b.json", "no JSON");
    put(
        "data/tasks.json",
        """
        [{"name": "torch.other.f", "file": "Math/f.py", "description": "C:\\\\new \\"f\\"",
          "func_inputs": "g(x, y) -> Tensor", "difficulty": 3, "dtype": "torch.float16",
          "precision_thresholds": {"rmse": 0.1}}]
        """);
    Originals originals = Originals.find(folder.resolve("data/kernelbenchx"));
    assertThat(text(originals))
        .startsWith("\"\"\"C:\\\\new \\\"f\\\"\n")
        .contains("ENTRY = \"g\"\n", "DIFFICULTY = 3\n", "DTYPE = \"float16\"\n")
        .contains("    thresholds={\"rmse\": 0.1},\n");
  }

  @Test
  void taskDigestChangesWithTheOriginal() throws Exception {
    String checkout = "a \"checkout\"\\\t";
    Path function = put(checkout + "/Math/f.py", TASK);
    Path module =
        put(
            "modules/level1/2_Two.py",
            "class Model:\n    def forward(self, x):\n        return x\n");
    put("suite/Math/f.py", text(Originals.find(folder.resolve(checkout))));
    Checkout.Result written =
        OriginalLevels.find(folder.resolve("modules")).write(module, SyntaxCheck.PARSER);
    put("suite/level1/2_Two.py", ((Checkout.Written) written).text());
    List<Task> tasks = Suites.open(folder.resolve("suite").toString(), folder).tasks();
    assertThat(tasks).hasSize(2);
    List<String> before = tasks.stream().map(Task::digest).toList();
    assertThat(tasks.stream().map(Task::digest)).containsExactlyElementsOf(before);
    Files.writeString(function, TASK + "\n");
    Files.writeString(module, Files.readString(module) + "\n");
    assertThat(tasks.stream().map(Task::digest))
        .doesNotContainAnyElementsOf(before)
        .doesNotContain("unreadable");
    Files.delete(function);
    assertThat(tasks.stream().map(Task::digest)).contains("unreadable");
  }

  @Test
  void aFileWithoutMetadataDescribesItself() throws Exception {
    put("Math/f.py", "\ufeff" + TASK.replace("\n", "\r\n"));
    assertThat(text(Originals.find(folder))).startsWith("\"\"\"`f` of Math/f.py.\n");
  }

  @Test
  void kernelBenchHasLevelsOfNumberedFiles() throws Exception {
    String model = "class Model:\n    def forward(self, x=N): # all\n        return x\n";
    Path ten = put("KernelBench/level1/10_Ten.py", model);
    Path two = put("KernelBench/level1/2_Two.py", model);
    Path other = put("KernelBench/level3/1_One.py", "\ufeffx = 1\n");
    put("KernelBench/level1/notes.py", model);
    put("KernelBench/changelog/3_Three.py", model);
    for (String place : List.of("", "KernelBench")) {
      assertThat(OriginalLevels.find(folder.resolve(place)).files())
          .as(place)
          .containsExactly(two, ten, other);
    }
    OriginalLevels level = OriginalLevels.find(folder.resolve("KernelBench/level1"));
    assertThat(level.files()).containsExactly(two, ten);
    Checkout.Written written = (Checkout.Written) level.write(two, SyntaxCheck.PARSER);
    assertThat(written.category() + "/" + written.name()).isEqualTo("level1/2_Two");
    assertThat(written.text())
        .contains("    def __init__(self): ...\n", "    def forward(self, x=N): ...\n")
        .contains("FILE = \"" + two + "\"\n");
    assertThat(level.write(other, SyntaxCheck.PARSER)).isInstanceOf(Checkout.Unusable.class);
    Path changelog = folder.resolve("KernelBench/changelog");
    assertThatThrownBy(() -> OriginalLevels.find(changelog))
        .isInstanceOf(InvalidSuite.class)
        .hasMessageContaining("holds no task files of KernelBench; name its checkout");
  }
}
