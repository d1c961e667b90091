package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** {@code kbx tasks verify} over a suite with sound, unsound and unusable tasks. */
class VerifyTest {
  private static final Path RELU = Kbx.home().resolve("tasks/kernelbenchx/Activation/relu.py");

  @TempDir private Path folder;
  private String relu = "";

  @BeforeEach
  void readTheSample() throws IOException {
    relu = Files.readString(RELU);
  }

  private void task(String name, String old, String replacement) throws IOException {
    assertThat(relu).contains(old);
    Path file = folder.resolve("suite/Activation").resolve(name + ".py");
    Files.createDirectories(file.getParent());
    Files.writeString(
        file, relu.replace(old, replacement).replace("def relu(", "def " + name + "("));
  }

  private void kernel(String name, String source) throws IOException {
    Path file = folder.resolve("suite/Activation/kernels").resolve(name + ".py");
    Files.createDirectories(file.getParent());
    Files.writeString(file, source.replace("def relu(", "def " + name + "("));
  }

  private Kbx.Result verify(Object... more) {
    List<Object> all = new ArrayList<>(List.of("tasks", "verify"));
    all.addAll(List.of("--suite", folder.resolve("suite"), "--out", folder.resolve("kbx-out")));
    all.addAll(List.of("--device", "cpu", "--jobs", 1));
    all.addAll(List.of(more));
    return Kbx.here(all.toArray());
  }

  @Test
  void invalidTasksAreNamedWithTheirLinesAndTheRestIsVerified() throws Exception {
    task("sound", "DIFFICULTY", "DIFFICULTY");
    task("cut", "CASES = [", "CASES = [(");
    task("raising", "    x = make", "    assert not shape, 'no shape for you'\n    x = make");
    task(
        "flaky",
        "return F.relu(input, inplace=inplace)",
        "return F.relu(input, inplace=inplace).add_(torch.rand(()))");
    task("leaving", "import torch\n", "import torch, os\nos._exit(3)\n");
    Kbx.Result result = verify();
    assertThat(result.exit()).isEqualTo(1);
    assertThat(result.out())
        .contains("1 of 5 tasks sound", "controls.html")
        .containsPattern("cut\\.py:\\d+: ")
        .containsPattern("raising\\.py:\\d+: .*no shape for you")
        .containsPattern("flaky\\.py:\\d+: positive control 'reference' ended as wrong_values")
        .contains("leaving.py: ");
    assertThat(folder.resolve("kbx-out/controls.html")).content().contains("1 of 5 tasks sound");
  }

  @Test
  void kernelsBesideTasksAreJudgedAsCandidatesAre() throws Exception {
    task("right", "DIFFICULTY", "DIFFICULTY");
    kernel("right", Files.readString(Kbx.home().resolve("corpus/honest/heuristics/relu.py")));
    task("wrong", "DIFFICULTY", "DIFFICULTY");
    kernel("wrong", "def relu(input, inplace=False):\n    return input\n");
    Kbx.Result result = verify("--json");
    assertThat(result.exit()).isEqualTo(1);
    for (JsonNode task : result.json()) {
      boolean right = task.get("name").asString().equals("right");
      assertThat(task.get("ok").asBoolean()).as(task.toString()).isEqualTo(right);
      JsonNode kernel = task.get("controls").get(task.get("controls").size() - 1);
      assertThat(kernel.get("kind").asString()).isEqualTo("kernel");
      assertThat(kernel.get("status").asString().equals("correct")).isEqualTo(right);
    }
  }

  @Test
  void bothKernelsOfATaskAreControls() throws Exception {
    task("right", "DIFFICULTY", "DIFFICULTY");
    kernel("right", Files.readString(Kbx.home().resolve("corpus/honest/heuristics/relu.py")));
    kernel("simple/right", "def relu(input, inplace=False):\n    return input\n");
    JsonNode controls = verify("--json").json().get(0).get("controls");
    List<String> kernels =
        StreamSupport.stream(controls.spliterator(), false)
            .filter(each -> each.get("kind").asString().equals("kernel"))
            .map(each -> each.get("name").asString() + " " + each.get("ok"))
            .toList();
    assertThat(kernels).containsExactly("kernels/right.py true", "kernels/simple/right.py false");
  }

  @Test
  void unchangedTasksAreNotVerifiedAgain() throws Exception {
    task("kept", "DIFFICULTY", "DIFFICULTY");
    task("changed", "DIFFICULTY", "DIFFICULTY");
    assertThat(verify("--json").exit()).isZero();
    assertThat(verify("kept", "--resume", "--json").json().size()).isEqualTo(1);
    assertThat(Files.readAllLines(folder.resolve("kbx-out/controls.jsonl")))
        .as("what is known of a task that was not asked for")
        .hasSize(2);
    task("changed", "DIFFICULTY", "# another line\nDIFFICULTY");
    Files.writeString(
        folder.resolve("kbx-out/controls.jsonl"),
        Files.readString(folder.resolve("kbx-out/controls.jsonl")) + "{\"name\":\"half a li");
    Kbx.Result again = verify("--resume", "--json");
    assertThat(again.err())
        .contains("Activation/kept  as before")
        .doesNotContain("changed  as before");
    assertThat(again.json().size()).isEqualTo(2);
    assertThat(verify("kept", "--json").err()).doesNotContain("as before");
  }
}
