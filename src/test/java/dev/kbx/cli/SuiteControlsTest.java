package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/**
 * Every control of every bundled task does what it must, on the CPU; of the Triton kernels, which
 * take most of the time, those of the quantization tasks and every third of the others.
 */
class SuiteControlsTest {
  private static final int SOME = 3;

  @TempDir private Path folder;

  private void copySuite(Path target) throws IOException {
    Path source = Kbx.home().resolve("tasks/kernelbenchx");
    int kernels = 0;
    try (Stream<Path> files = Files.walk(source)) {
      for (Path file : files.filter(f -> f.toString().endsWith(".py")).sorted().toList()) {
        String path = source.relativize(file).toString();
        boolean kernel = path.contains("/kernels/") && !path.startsWith("Quantization");
        if (kernel && kernels++ % SOME != 0) continue;
        Path copy = target.resolve(path);
        Files.createDirectories(copy.resolve("..").normalize());
        Files.copy(file, copy);
      }
    }
  }

  @Test
  void everyTaskIsSound() throws Exception {
    copySuite(folder.resolve("kernelbenchx"));
    Kbx.Result result =
        Kbx.run(
            folder,
            "tasks",
            "verify",
            "--suite",
            "./kernelbenchx",
            "--device",
            "cpu",
            "--seed",
            Kbx.SEED,
            "--json");
    List<String> unsound = new ArrayList<>();
    for (JsonNode task : result.json()) {
      if (task.has("problem")) unsound.add(task.get("problem").asString());
      for (JsonNode control : task.get("controls")) {
        if (!control.get("ok").asBoolean()) unsound.add(task.get("name") + " " + control);
      }
      assertThat(task.get("controls").size()).as(task.get("name").asString()).isGreaterThan(8);
    }
    assertThat(unsound).isEmpty();
    assertThat(result.exit()).isZero();
    assertThat(result.json().size()).isEqualTo(184);
  }
}
