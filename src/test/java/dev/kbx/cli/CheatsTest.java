package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.store.RunStore;
import dev.kbx.store.StoreAddress;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * {@code kbx bench cheats}: no bundled cheat gets through, no honest kernel is turned away.
 *
 * <p>All files are judged at the general grade, and at the published grade those that might end
 * otherwise there; with the property {@code kbx.soak}, all of them again.
 */
class CheatsTest {
  private static final boolean SOAK = Boolean.getBoolean("kbx.soak");
  private static final JsonMapper JSON = JsonMapper.builder().build();

  /** Flags that the task has, whatever the candidate does. */
  private static final Set<String> OF_THE_TASK = Set.of("scaled_inputs", "degenerate_task");

  @TempDir private static Path folder;
  private static Kbx.Result general;

  @BeforeAll
  static void judgeAllAtTheGeneralGrade() {
    general = judge("general", List.of(), "--page", folder.resolve("page.md"));
  }

  /** Results are in a folder that is named after the grade. */
  private static Kbx.Result judge(String grade, List<String> files, Object... more) {
    List<Object> arguments = new ArrayList<>(List.of("bench", "cheats"));
    arguments.addAll(files);
    arguments.addAll(List.of("--device", "cpu", "--jobs", 2, "--timeout", 25, "--seed", Kbx.SEED));
    arguments.addAll(List.of("--grade", grade, "--out", folder.resolve(grade)));
    arguments.addAll(List.of("--every", 60)); // SuiteControlsTest judges many more kernels.
    arguments.addAll(List.of(more));
    return Kbx.here(arguments.toArray());
  }

  @Test
  void noCheatGetsThroughAndNoHonestKernelIsTurnedAway() throws Exception {
    assertThat(general.exit()).as(differing(general)).isZero();
    JsonNode trials = JSON.readTree(folder.resolve("general/cheats.json").toFile()).get("trials");
    Set<String> sources = new HashSet<>();
    trials.forEach(trial -> sources.add(trial.get("source").asString()));
    assertThat(sources).hasSizeGreaterThan(350).hasSize(trials.size());
    String page = Files.readString(folder.resolve("page.md"));
    String kept = Files.readString(Kbx.home().resolve("docs/cheats.md"));
    for (JsonNode trial : trials) {
      if (!trial.get("kind").asString().equals("cheat")) continue;
      String source = trial.get("source").asString();
      assertThat(page).contains(source);
      assertThat(kept).as("docs/cheats.md, made by --page").contains(source);
    }
  }

  @Test
  @Tag("soak")
  void norAtThePublishedGrade() {
    List<String> undecided =
        judgedAtTheGeneralGrade().stream()
            .filter(verdict -> !endsAlikeAtThePublishedGrade(verdict))
            .map(Verdict::source)
            .sorted()
            .toList();
    assertThat(undecided)
        .hasSizeGreaterThan(50)
        .allMatch(source -> source.contains("/corpus/"), "has a header, as no suite's kernel has");
    Kbx.Result published = judge("published", SOAK ? List.of() : undecided);
    assertThat(published.exit()).as(differing(published)).isZero();
  }

  private static List<Verdict> judgedAtTheGeneralGrade() {
    try (RunStore store = RunStore.open(StoreAddress.of(folder.resolve("general/kbx.db")))) {
      return store.runs().stream()
          .flatMap(run -> store.verdicts(run.id()).values().stream())
          .toList();
    }
  }

  /**
   * Whether a verdict of the general grade says how its file ends at the published one, which makes
   * and judges the same calls first, on the same inputs, and then decides.
   *
   * <p>What failed before the calls beyond the published grade ends there in the same way. What is
   * right in all calls is right in those, and all its own work if PyTorch did nothing in any.
   */
  private static boolean endsAlikeAtThePublishedGrade(Verdict verdict) {
    if (verdict.status() != Status.CORRECT) return verdict.judgement().holds() == null;
    Verdict.Origin origin = verdict.judgement().origin();
    return OF_THE_TASK.containsAll(verdict.flags())
        && origin != null
        && origin.kernelShare() == 1
        && origin.operations().isEmpty();
  }

  /** What ended otherwise, without the hundreds of lines of progress around it. */
  private static String differing(Kbx.Result result) {
    List<String> said = result.err().lines().toList();
    return result.out().substring(result.out().indexOf("\n\n") + 1)
        + String.join("\n", said.subList(Math.max(0, said.size() - 5), said.size()));
  }

  private static Kbx.Result judgeOne(String rule, String ending) throws Exception {
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
    Kbx.Result result = judgeOne("never-quantizes", "timeout");
    assertThat(result.exit()).isEqualTo(1);
    assertThat(result.out())
        .contains("corpus/tail/relu.py: static: rejected by", "must be by never-quantizes")
        .contains("corpus/tail/relu.py: ended as wrong_values, must be timeout")
        .contains("1 of 1 files end differently");
  }

  @Test
  void aMalformedHeaderIsOneClearLine() throws Exception {
    Kbx.Result result = judgeOne("none", "wrong_numbers");
    assertThat(result.exit()).isEqualTo(1);
    assertThat(result.err())
        .contains("corpus/tail/relu.py: 'dynamic: wrong_numbers' names no status")
        .hasLineCount(1);
  }
}
