package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code kbx bench referee}: a run with simulated workers, killed and resumed. */
class RefereeTest {
  @TempDir private Path folder;

  @Test
  void refereeBenchKillsARunAndReportsNoLoss() throws Exception {
    Kbx.Result result =
        Kbx.run(folder, "bench", "referee", "--candidates", 24, "--devices", 3, "--out", "out");
    assertThat(result.exit()).as(result.out() + result.err()).isZero();
    assertThat(result.out())
        .contains("3 simulated devices, 24 candidates")
        .containsPattern("verdicts a second, both +\\d")
        .containsPattern("resume, from start to first new verdict +\\d+\\.\\d+ s")
        .containsPattern("JVM, peak resident +\\d+ MB")
        .containsPattern("heap after a collection, at most +\\d+ MB")
        .containsPattern("verdicts lost +0\n")
        .containsPattern("verdicts given twice +0\n");
    assertThat(Files.readAllLines(folder.resolve("out/run/results.jsonl")))
        .hasSize(24)
        .allSatisfy(line -> assertThat(line).contains("\"status\":\"correct\""));
  }

  @Test
  void foreignFilesAreNotReplaced() throws Exception {
    Path kept = Files.createDirectories(folder.resolve("mine/run")).resolve("keep.txt");
    Files.writeString(kept, "precious");
    Kbx.Result result = Kbx.run(folder, "bench", "referee", "--candidates", 8, "--out", "mine");
    assertThat(result.exit()).isEqualTo(1);
    assertThat(result.err()).contains("mine: has a run that this command did not make");
    assertThat(kept).hasContent("precious");
  }

  @Test
  void tooFewCandidatesAreAOneLineError() throws Exception {
    Kbx.Result result = Kbx.run(folder, "bench", "referee", "--candidates", 1);
    assertThat(result.exit()).isEqualTo(1);
    assertThat(result.err()).isEqualTo("kbx: --candidates 1: at least 4\n");
  }
}
