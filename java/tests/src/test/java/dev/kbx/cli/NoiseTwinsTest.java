package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The twins of {@code kbx bench noise}: both right, and alike but for the bytes they move. */
class NoiseTwinsTest {
  private static final Path TWINS = Kbx.home().resolve("tasks/noise/Copy/kernels");

  @TempDir private Path folder;

  @Test
  void slowedTwinMovesThreePercentMoreData() throws Exception {
    String plain = code("copy.py");
    String slowed = code("slowed.py");
    assertThat(slowed).isEqualTo(plain.replace("EXTRA = 0.0\n", "EXTRA = 0.03\n"));
    assertThat(slowed).isNotEqualTo(plain);
  }

  @Test
  void theSlowedTwinIsCorrect() throws Exception {
    Path slowed = Files.copy(TWINS.resolve("slowed.py"), folder.resolve("copy.py"));
    Path out = folder.resolve("out");
    Kbx.Result result =
        Kbx.here("eval", slowed, "--suite", "noise", "--device", "cpu", "--json", "--out", out);
    assertThat(result.exit()).as(result.err()).isZero();
    assertThat(result.json().get("verdicts").get(0).get("status").asString()).isEqualTo("correct");
  }

  /** Without the first line, which says what the file is. */
  private static String code(String name) throws Exception {
    String source = Files.readString(TWINS.resolve(name));
    return source.substring(source.indexOf('\n'));
  }
}
