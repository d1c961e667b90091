package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kbx.Patience;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code kbx eval --watch}: the inner loop of who writes a kernel. */
class WatchTest {
  private static final Path GELU = Kbx.home().resolve("corpus/honest/plain/gelu.py");

  @TempDir private Path folder;
  private String right = "";
  private Path file = GELU;
  private Path out = GELU;
  private Path err = GELU;

  @BeforeEach
  void writeTheKernel() throws IOException {
    right = Files.readString(GELU);
    file = Files.writeString(folder.resolve("gelu.py"), right);
    out = folder.resolve("stdout");
    err = folder.resolve("stderr");
  }

  @Test
  void changesAreJudgedUntilAnInterrupt() throws Exception {
    Process watching = start("--stages", "static");
    said("report: ");
    Files.writeString(file, "def gelu(input:\n");
    said(" Activation/gelu: syntax_error (was correct): ");
    Files.delete(file);
    await().atMost(Patience.LIMIT).until(() -> Files.readString(err).contains("does not exist"));
    // As most editors save.
    Path draft = Files.writeString(folder.resolve("draft"), right);
    Files.move(draft, file, StandardCopyOption.ATOMIC_MOVE);
    said(" Activation/gelu: correct (was syntax_error)\n");
    ends(watching);
    Path store = folder.resolve("kbx-out");
    assertThat(Kbx.here("runs", "list", "--out", store, "--json").json().size()).isEqualTo(3);
  }

  @Test
  void changedReferenceJudgesAnew() throws Exception {
    String reference =
        "import helper\n\n# inputs: f32[40]\ndef gelu(x):\n    return x + helper.ONE\n";
    Path by = Files.writeString(folder.resolve("my_ref.py"), reference);
    Path helper = Files.writeString(folder.resolve("helper.py"), "ONE = 1\n");
    Process watching = start("--stages", "static", "--reference", by);
    said("report: ");
    Files.writeString(by, reference + "# another\n");
    await().atMost(Patience.LIMIT).until(() -> judged() == 1);
    Files.writeString(by, "def gelu(\n");
    await().atMost(Patience.LIMIT).until(() -> Files.readString(err).contains("my_ref.py:1: "));
    Files.writeString(by, reference);
    await().atMost(Patience.LIMIT).until(() -> judged() == 2);
    Files.writeString(helper, "ONE = 2\n");
    await().atMost(Patience.LIMIT).until(() -> judged() == 3);
    ends(watching);
  }

  /** Lines about judgements after the first. */
  private long judged() throws IOException {
    return Files.readString(out).lines().filter(line -> line.contains("/gelu: correct")).count();
  }

  @Test
  @Tag("soak-only")
  void resultsFollowTheReference() throws Exception {
    String reference =
        "import torch\n\n# inputs: f32[40]\ndef gelu(x):\n    return torch.nn.functional.gelu(x)\n";
    Path by = Files.writeString(folder.resolve("my_ref.py"), reference);
    Process watching = start("--device", "cpu", "--jobs", 1, "--reference", by);
    said("report: ");
    Files.writeString(by, reference.replace("gelu(x)\n", "gelu(x) * 3\n"));
    said("/gelu: wrong_values (was correct): ");
    Files.writeString(by, reference);
    said("/gelu: correct (was wrong_values)");
    ends(watching);
  }

  @Test
  @Tag("soak-only")
  void warmWorkersJudgeEachChangeOfAFile() throws Exception {
    Process watching = start("--device", "cpu", "--jobs", 1);
    said("report: ");
    Files.writeString(file, right.replace("0.5 * x", "0.6 * x"));
    said(" Activation/gelu: wrong_values (was correct): ");
    Files.writeString(file, right.replace("0.5 * x", "0.50 * x"));
    said(" Activation/gelu: correct (was wrong_values)\n");
    Files.writeString(file, right.replace(".contiguous()", ""));
    said(" Activation/gelu: correct\n    Breaks on ");
    ends(watching);
  }

  @Test
  void unwatchableInputIsRefused() {
    assertThat(Kbx.here("eval", folder, "--watch").err()).contains("is a folder; --watch needs");
    assertThat(Kbx.here("eval", file, "--watch", "--json").err()).contains("--watch and --json");
    assertThat(Kbx.here("eval", file, "--watch", "--resume").err()).contains("--watch and --res");
  }

  private Process start(Object... more) throws IOException {
    List<Object> arguments = new ArrayList<>(List.of("eval", file, "--watch"));
    arguments.addAll(List.of(more));
    return Kbx.start(folder, Map.of(), out, err, arguments.toArray());
  }

  private void said(String text) {
    await().atMost(Patience.LIMIT).until(() -> Files.readString(out).contains(text));
  }

  private void ends(Process watching) throws Exception {
    watching.destroy(); // SIGTERM; Ctrl-C goes the same way
    assertThat(watching.waitFor(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
    assertThat(watching.exitValue()).isZero();
    assertThat(Files.readString(err)).contains("watching for changes", "kbx: stopped");
  }
}
