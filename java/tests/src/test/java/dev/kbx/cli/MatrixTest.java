package dev.kbx.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.kbx.Patience;
import dev.kbx.TestPython;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code kbx matrix} and {@code kbx reproduce}; no test of every build installs a package. */
class MatrixTest {
  private static final Path EXAMPLES = Path.of("examples/versions");

  private static final String REFERENCE =
      """
      import torch

      # inputs: f32[16, 40], 2.0
      def scale(x, by):
          return x * by
      """;

  @TempDir private Path folder;

  private static Path python() {
    return TestPython.interpreter().executable();
  }

  private Path write(String name, String text) throws IOException {
    return Files.writeString(folder.resolve(name), text);
  }

  private Kbx.Result matrix(Object... further) throws Exception {
    Path reference = write("my_ref.py", REFERENCE);
    Path right = write("right.py", OwnReferenceCase.KERNEL.replace("BY", "by"));
    Path broken = write("broken.py", OwnReferenceCase.KERNEL.replace("BY", "by * 1.5"));
    List<Object> all =
        new ArrayList<>(
            List.of("matrix", right, broken, "--reference", reference, "--device", "cpu"));
    all.addAll(List.of("--jobs", 1, "--out", folder.resolve("out"), "--json"));
    all.addAll(List.of(further));
    return Kbx.here(all.toArray());
  }

  @Test
  void whatWasJudgedInAnEnvironmentIsRemembered() throws Exception {
    Kbx.Result result = matrix("--python", python() + "," + python());
    assertThat(result.exit()).as(result.err()).isZero();
    String own = "triton " + TestPython.interpreter().versions().get("triton");
    assertThat(result.json().get("environments").values())
        .extracting(each -> each.get("label").asString(), each -> each.get("correct").asInt())
        .containsExactly(tuple(own, 1), tuple(own + " #2", 1));
    assertThat(result.json().get("changes").size()).isZero();
    assertThat(result.err()).contains("2 of 2 verdicts from memory");
    assertThat(folder.resolve("out/matrix.html"))
        .content()
        .contains("0 of 2 kernels are not everywhere as under " + own);
  }

  @Test
  void propertyOnWhichACorrectKernelBreaksIsShown() throws Exception {
    Path reference = write("my_ref.py", REFERENCE);
    Path right = write("right.py", OwnReferenceCase.KERNEL.replace("BY", "by"));
    Path out = folder.resolve("out");
    Kbx.Result judged =
        Kbx.here(
            "eval", right, "--reference", reference, "--device", "cpu", "--jobs", 1, "--out", out);
    assertThat(judged.exit()).as(judged.err()).isZero();
    Path script = folder.resolve("shown.py");
    Kbx.Result written =
        Kbx.here(
            "reproduce", "own/scale", "--out", out, "--output", script, "--reference", reference);
    assertThat(written.exit()).as(written.err()).isZero();
    assertThat(script).content().contains("non_contiguous", "laid_out(");
    assertThat(output(python(), script)).contains("wrong elements of 640").endsWith("exit 1");

    Kbx.Result refused = Kbx.here("reproduce", "own/scale", "--out", out);
    assertThat(refused.exit()).isEqualTo(ExitCode.USAGE);
    assertThat(refused.err()).contains("give that file by --reference");
    Kbx.Result absent =
        Kbx.here(
            "reproduce", "own/scale", "--out", out, "--reference", reference, "--property", "none");
    assertThat(absent.err()).contains("--property none: it breaks on non_contiguous");
  }

  private static String output(Path python, Path script) throws Exception {
    Process process =
        new ProcessBuilder(python.toString(), "-B", script.toString(), "1")
            .redirectErrorStream(true)
            .start();
    String text = new String(process.getInputStream().readAllBytes(), UTF_8);
    return text + "exit " + process.waitFor();
  }

  @Test
  void wrongEnvironmentsAreRefusedBeforeAnythingIsInstalled() throws Exception {
    assertThat(matrix("--triton", "3.6").err()).contains("name two environments or more");
    assertThat(matrix("--triton", "3.6,2.9").err())
        .contains("--triton 2.9: kbx can install 3.5.1, 3.6.0, 3.7.1, 3.8.0, 3.9.0");
    assertThat(matrix("--python", python() + ",/no/python").err()).contains("/no/python");
  }

  /** Installs two versions of Triton from the package index, as the first use does. */
  @Test
  @Tag("soak-only")
  @Timeout(Patience.SECONDS)
  void examplesDependOnTheVersionOfTriton() throws Exception {
    Kbx.Result result =
        Kbx.here(
            "matrix",
            EXAMPLES.resolve("plain.py"),
            EXAMPLES.resolve("block_pointer.py"),
            EXAMPLES.resolve("square_tile.py"),
            "--reference",
            EXAMPLES.resolve("softmax_ref.py"),
            "--triton",
            "3.5,3.6,3.8,3.9",
            "--bisect",
            "--device",
            "cpu",
            "--out",
            folder.resolve("out"),
            "--json");
    assertThat(result.exit()).as(result.err()).isZero();
    assertThat(result.json().get("changes").values())
        .extracting(
            each -> Path.of(each.get("source").asString()).getFileName().toString(),
            each -> each.get("detail").asString(),
            each -> each.get("between").asString(),
            each -> each.get("since").asString())
        .containsExactlyInAnyOrder(
            tuple("block_pointer.py", "correct → compile_error", "triton 3.8.0", "triton 3.9.0"),
            tuple("square_tile.py", "wrong_values → correct", "triton 3.8.0", "triton 3.9.0"));
    assertThat(result.json().get("environments").size())
        .as("of those between, one half way each time")
        .isEqualTo(4);
  }
}
