package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/**
 * Every control of bundled tasks does what it must, on the CPU: of every twentieth task, and of all
 * of them with the property {@code kbx.soak}. Of their Triton kernels, which take most of the time,
 * those of the quantization tasks and of the others every second, with that property every tenth.
 */
@Tag("soak")
class SuiteControlsTest {
  private static final boolean SOAK = Boolean.getBoolean("kbx.soak");
  private static final int TASKS = SOAK ? 1 : 20;
  private static final int KERNELS = SOAK ? 10 : 2;

  @TempDir private Path folder;

  /** Copies some of the tasks, and the kernels of some of them; how many tasks. */
  private int copySuite(Path source, Path target) throws IOException {
    Path published = source.resolve("published.json");
    if (Files.exists(published)) copy(published, target.resolve("published.json"));
    int seen = 0;
    int tasks = 0;
    int kernels = 0;
    try (Stream<Path> files = Files.walk(source)) {
      for (Path file : files.filter(f -> f.toString().endsWith(".py")).sorted().toList()) {
        Path path = source.relativize(file);
        if (path.toString().contains("/kernels/") || seen++ % TASKS != 0) continue;
        copy(file, target.resolve(path));
        tasks++;
        Path kernel = file.resolveSibling("kernels").resolve(file.getFileName());
        Path simple = kernel.resolveSibling("simple").resolve(file.getFileName());
        boolean some = path.startsWith("Quantization") || kernels % KERNELS == 0;
        if (!Files.exists(kernel)) continue;
        kernels++;
        if (some) copy(kernel, target.resolve(source.relativize(kernel)));
        if (some && Files.exists(simple)) copy(simple, target.resolve(source.relativize(simple)));
      }
    }
    return tasks;
  }

  private static void copy(Path from, Path to) throws IOException {
    Files.createDirectories(to.resolve("..").normalize());
    Files.copy(from, to);
  }

  @ParameterizedTest
  @CsvSource({"kernelbenchx, 184", "serving, 41"})
  void everyTaskIsSound(String suite, int all) throws Exception {
    int tasks = copySuite(Kbx.home().resolve("tasks").resolve(suite), folder.resolve(suite));
    assertThat(tasks).isGreaterThanOrEqualTo(all / TASKS);
    Kbx.Result result =
        Kbx.here(
            "tasks",
            "verify",
            "--suite",
            folder.resolve(suite),
            "--device",
            "cpu",
            "--seed",
            Kbx.SEED,
            "--out",
            folder.resolve("kbx-out"),
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
    assertThat(result.json().size()).isEqualTo(tasks);
  }
}
