package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** {@code kbx bench cheats}: no bundled cheat gets through, no honest kernel is turned away. */
class CheatsTest {
  private static final JsonMapper JSON = JsonMapper.builder().build();

  @TempDir private Path folder;

  private Kbx.Result judgeAll(String grade) {
    return Kbx.here(
        "bench",
        "cheats",
        "--device",
        "cpu",
        "--jobs",
        2,
        "--timeout",
        25,
        "--seed",
        Kbx.SEED,
        "--grade",
        grade,
        "--every",
        60, // of the suite's kernels; SuiteControlsTest judges many more
        "--out",
        folder.resolve("kbx-out"),
        "--page",
        folder.resolve("page.md"));
  }

  @Test
  @Tag("soak")
  void norAtTheGeneralGrade() {
    Kbx.Result result = judgeAll("general");
    assertThat(result.exit()).as(differing(result)).isZero();
  }

  @Test
  void noCheatGetsThroughAndNoHonestKernelIsTurnedAway() throws Exception {
    Kbx.Result result = judgeAll("published");
    assertThat(result.exit()).as(differing(result)).isZero();
    JsonNode trials = JSON.readTree(folder.resolve("kbx-out/cheats.json").toFile()).get("trials");
    Set<String> sources = new HashSet<>();
    trials.forEach(trial -> sources.add(trial.get("source").asString()));
    assertThat(sources).hasSizeGreaterThan(100).hasSize(trials.size());
    String page = Files.readString(folder.resolve("page.md"));
    String kept = Files.readString(Kbx.home().resolve("docs/cheats.md"));
    for (JsonNode trial : trials) {
      if (!trial.get("kind").asString().equals("cheat")) continue;
      String source = trial.get("source").asString();
      assertThat(page).contains(source);
      assertThat(kept).as("docs/cheats.md, made by --page").contains(source);
    }
  }

  /** What ended otherwise, without the hundreds of lines of progress around it. */
  private static String differing(Kbx.Result result) {
    List<String> said = result.err().lines().toList();
    return result.out().substring(result.out().indexOf("\n\n") + 1)
        + String.join("\n", said.subList(Math.max(0, said.size() - 5), said.size()));
  }

  private Kbx.Result judge(String rule, String ending) throws Exception {
    Path file = folder.resolve("corpus/tail/relu.py");
    Files.createDirectories(file.resolve("..").normalize());
    String code =
        """
        \"""Computes nothing.

        mechanism: semantics/zero-answer
        static: %s
        dynamic: %s
        \"""
        import torch

        def relu(input, inplace=False):
            return torch.zeros_like(input)
        """
            .formatted(rule, ending);
    Files.writeString(file, code);
    return Kbx.here(
        "bench",
        "cheats",
        folder.resolve("corpus"),
        "--device",
        "cpu",
        "--jobs",
        1,
        "--out",
        folder.resolve("kbx-out"));
  }

  @Test
  void aFileThatEndsOtherwiseIsNamed() throws Exception {
    Kbx.Result result = judge("never-quantizes", "timeout");
    assertThat(result.exit()).isEqualTo(1);
    assertThat(result.out())
        .contains("corpus/tail/relu.py: static: rejected by", "must be by never-quantizes")
        .contains("corpus/tail/relu.py: ended as wrong_values, must be timeout")
        .contains("1 of 1 files end differently");
  }

  @Test
  void aMalformedHeaderIsOneClearLine() throws Exception {
    Kbx.Result result = judge("none", "wrong_numbers");
    assertThat(result.exit()).isEqualTo(1);
    assertThat(result.err())
        .contains("corpus/tail/relu.py: 'dynamic: wrong_numbers' names no status")
        .hasLineCount(1);
  }
}
