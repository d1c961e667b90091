package dev.kbx.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kbx.verdict.Json;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict;
import dev.kbx.verdict.Verdict.Device;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** The references' times in an exported run folder. */
class RunFolderTimesTest {
  @TempDir private Path folder;

  /** A verdict of the fixtures as one of the KernelBench suite, with so many sizes. */
  private static Verdict kernelbench(Verdict verdict, int sizes) {
    ObjectNode json = Json.mapper().valueToTree(verdict);
    json.put("suite", "kernelbench");
    if (json.get("sizes") instanceof ArrayNode all) while (all.size() > sizes) all.remove(sizes);
    return Json.mapper().treeToValue(json, Verdict.class);
  }

  private static Verdict passed(String task, int sample, Device device, int number) {
    String source = "run/%d.py".formatted(sample);
    return kernelbench(Fixtures.passed(task, sample, source, device, number), 1);
  }

  private RunFolder.Written export(Verdict... verdicts) {
    return new RunFolder(folder).write(RunVerdicts.of(List.of(verdicts)), Fixtures::source);
  }

  private JsonNode read(String file) throws IOException {
    Path path = folder.resolve("results/timing").resolve(file);
    return Json.mapper().readTree(Files.readString(path));
  }

  /** The ratio of a problem's time and a sample's runtime is the speedup that kbx measured. */
  @Test
  void referenceTimesAreByLevelAndFile() throws IOException {
    export(
        passed("level1/100_HingeLoss", 0, Fixtures.H200, 2),
        passed("level1/19_ReLU", 0, Fixtures.H200, 4),
        passed("level2/3_Sum", 0, Fixtures.H200, 4));
    JsonNode times = read("NVIDIA_H200/baseline_time_torch.json");
    assertThat(times.propertyNames()).containsExactly("level1", "level2");
    assertThat(times.get("level1").propertyNames())
        .containsExactly("19_ReLU.py", "100_HingeLoss.py");
    JsonNode relu = times.get("level1").get("19_ReLU.py");
    assertThat(relu.propertyNames())
        .containsExactly("mean", "median", "num_trials", "hardware", "device");
    assertThat(relu.get("mean")).isEqualTo(relu.get("median"));
    assertThat(relu.get("num_trials").intValue()).isEqualTo(24);
    assertThat(relu.get("hardware").stringValue()).isEqualTo("NVIDIA H200");
    JsonNode results =
        Json.mapper().readTree(Files.readString(folder.resolve("eval_results_level1.json")));
    double runtime = results.get("19").get(0).get("runtime").doubleValue();
    assertThat(relu.get("mean").doubleValue() / runtime).isCloseTo(1.6, within(1e-9));
  }

  /** KernelBench's analysis script takes their runtime, -1, for a time. */
  @Test
  void correctKernelsWithoutARuntimeAreCounted() {
    Verdict untimed = kernelbench(passed("level1/20_LeakyReLU", 0, Fixtures.H200, 4), 0);
    RunFolder.Written written = export(passed("level1/19_ReLU", 0, Fixtures.H200, 4), untimed);
    assertThat(written).isEqualTo(new RunFolder.Written(2, 0, false, 1));
  }

  @Test
  void severalSamplesOfAProblemHaveOneTime() throws IOException {
    export(
        passed("level1/19_ReLU", 0, Fixtures.H200, 2),
        passed("level1/19_ReLU", 1, Fixtures.H200, 3),
        passed("level1/19_ReLU", 2, Fixtures.H200, 8));
    JsonNode relu = read("NVIDIA_H200/baseline_time_torch.json").get("level1").get("19_ReLU.py");
    assertThat(relu.get("mean").doubleValue()).isCloseTo(0.021 * 1.35, within(1e-9));
    assertThat(relu.get("num_trials").intValue()).isEqualTo(72);
  }

  @Test
  void compiledReferencesHaveAFileIfMeasured() throws IOException {
    export(
        passed("level1/19_ReLU", 0, Fixtures.H200, 0),
        passed("level1/20_LeakyReLU", 0, Fixtures.H200, 4));
    JsonNode level =
        read("NVIDIA_H200/baseline_time_torch_compile_inductor_default.json").get("level1");
    assertThat(level.propertyNames()).containsExactly("19_ReLU.py");
    JsonNode relu = level.get("19_ReLU.py");
    assertThat(relu.get("mean").doubleValue()).isCloseTo(0.021 * 0.6 / 1.25, within(1e-9));
    assertThat(relu.has("num_trials")).isFalse();
    try (Stream<Path> files = Files.list(folder.resolve("results/timing/NVIDIA_H200"))) {
      assertThat(files).hasSize(2);
    }
  }

  @Test
  void unmeasuredReferencesHaveNoFile() {
    export(
        passed("level1/19_ReLU", 0, Fixtures.CPU, 0),
        kernelbench(
            Fixtures.failed("level1/19_ReLU", 1, Status.CHEATING, Stage.PERF)
                .evidence("e")
                .build(Fixtures.H200),
            1),
        kernelbench(Fixtures.passed("level1/20_LeakyReLU", 0, "a.py", Fixtures.H200, 0), 3));
    assertThat(folder.resolve("eval_results.json")).exists();
    assertThat(folder.resolve("results")).doesNotExist();
  }
}
