package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.Patience;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** {@code kbx bench throughput}: how many, how fast, and where the time went. */
class ThroughputTest {
  @TempDir private Path folder;

  private static Kbx.Result measure(String... options) {
    Object[] arguments = new Object[options.length + 6];
    System.arraycopy(
        new Object[] {"bench", "throughput", "--device", "cpu", "--jobs", 1}, 0, arguments, 0, 6);
    System.arraycopy(options, 0, arguments, 6, options.length);
    return Kbx.here(arguments);
  }

  private static String example(String name) {
    return Kbx.home().resolve("corpus").resolve(name).toString();
  }

  @Test
  void stagesSumToTheWallTime() throws Exception {
    Kbx.Result result =
        measure(
            "--json",
            example("honest/autotune/softmax.py"),
            example("failing/syntax_error/gelu.py"));
    assertThat(result.exit()).as(result.err()).isZero();
    JsonNode found = JsonMapper.shared().readTree(result.out());
    assertThat(found.get("candidates").asInt()).isEqualTo(2);
    assertThat(found.get("statuses").get("correct").asInt()).isEqualTo(1);
    double seconds = found.get("seconds").asDouble();
    assertThat(found.get("per_device_hour").asDouble()).isEqualTo(3600 * 2 / seconds);
    assertThat(found.get("alone_seconds").asDouble()).isBetween(0.0, seconds);
    double spent = 0;
    for (JsonNode stage : found.get("stages")) spent += stage.get("all").asDouble();
    assertThat(spent).isBetween(0.0, seconds);
    assertThat(found.get("timing").isEmpty()).as("nothing is timed without a GPU").isTrue();
  }

  @Test
  void defaultOutputIsATable() throws Exception {
    Kbx.Result result = measure(example("failing/no_code"), example("failing/no_entry"));
    assertThat(result.exit()).as(result.err()).isZero();
    assertThat(result.out())
        .startsWith("2 candidates in ")
        .contains("a device-hour", "Each alone: median", "no_code 1, no_entry 1", "static");
  }

  @Test
  @Timeout(Patience.SECONDS)
  void interruptPrintsPartialResults() throws Exception {
    Path out = folder.resolve("out");
    Path err = folder.resolve("err");
    Process process =
        Kbx.start(
            folder,
            Map.of(),
            out,
            err,
            "bench",
            "throughput",
            "--device",
            "cpu",
            "--jobs",
            1,
            example("failing/no_entry"),
            example("failing/timeout"));
    while (!Files.readString(err).contains("no_entry")) Thread.sleep(50);
    process.destroy();
    assertThat(process.waitFor()).as(Files.readString(err)).isEqualTo(ExitCode.INCOMPLETE);
    assertThat(Files.readString(out))
        .startsWith("1 candidate in ")
        .contains("Cut off: 1 without a verdict", "no_entry 1");
    assertThat(Files.readString(err)).contains("the figures are those of what was judged");
  }

  @Test
  void emptyFolderIsReported() throws Exception {
    Kbx.Result result = measure(folder.toString());
    assertThat(result.exit()).isEqualTo(1);
    assertThat(result.err()).contains("nothing to judge in " + folder);
  }
}
