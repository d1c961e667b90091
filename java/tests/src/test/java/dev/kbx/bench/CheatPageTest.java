package dev.kbx.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.kbx.files.UnreadableException;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The page of the docs and the file it is made from. */
class CheatPageTest {
  @TempDir private Path folder;

  private static Trials trials(String kind, String device, Status ended) {
    return trials(kind, device, ended, "wrong_values");
  }

  private static Trials trials(String kind, String device, Status ended, String mustEnd) {
    Trial trial =
        new Trial(
            Trial.Kind.CHEAT,
            "timing",
            "replay-by-shape",
            "Answers with a | of old.",
            "corpus/cheats/cached_by_shape/relu.py",
            List.of("wafer"),
            List.of("replayed-result"),
            mustEnd,
            List.of("replayed-result"),
            List.of(),
            ended,
            "1 wrong element",
            null,
            List.of());
    return new Trials(
        new Verdict.Device(kind, device, null, null, null),
        Map.of("torch", "2.13.0", "triton", "3.7.1"),
        List.of(trial));
  }

  private String page(Trials onGpu) throws Exception {
    return page(trials("cpu", "a CPU", Status.WRONG_VALUES), onGpu);
  }

  private String page(Trials onCpu, Trials onGpu) throws Exception {
    onGpu.write(folder);
    Path page = folder.resolve("cheats.md");
    CheatPage.write(page, onCpu, List.of(folder.resolve("cheats.json")), Map.of());
    return Files.readString(page);
  }

  @Test
  void unreadableCheatRunIsNamed() throws Exception {
    Path kept = Files.writeString(folder.resolve("cheats.json"), "{\"trials\": 1");
    Trials onCpu = trials("cpu", "a CPU", Status.WRONG_VALUES);
    assertThatExceptionOfType(UnreadableException.class)
        .isThrownBy(
            () -> CheatPage.write(folder.resolve("cheats.md"), onCpu, List.of(kept), Map.of()))
        .withMessage(kept + ": is not a cheats.json");
  }

  @Test
  void rowHasVerdictsOnCpuAndGpu() throws Exception {
    assertThat(page(trials("cuda", "NVIDIA H200", Status.CHEATING)))
        .contains("| [replay-by-shape](../corpus/cheats/cached_by_shape/relu.py) |")
        .contains("| Answers with a \\| of old. | `replayed-result` | wrong_values | cheating |")
        .contains("**NVIDIA H200** (torch 2.13.0, Triton 3.7.1)")
        .contains("0 of 1 cheats accepted")
        .doesNotContain("{{");
  }

  @Test
  void publishedCheatsHaveRowsOfTheirOwn() throws Exception {
    String page = page(trials("cuda", "NVIDIA H200", Status.CORRECT, "gap"));
    String row = " | 1 | 1 | 0 | 1 (known gaps: 1) of 1 | 0 | 0 |";
    assertThat(page)
        .contains("(https://www.wafer.ai/blog/reward-hacks-field-guide)" + row)
        .contains("| **all of these**, each file once" + row)
        .contains("| **kbx's own** | 0 | 0 | 0 | 0 of 0 | 0 | 0 |")
        .contains("(1 are mechanisms that others have published, and 0 of these accepted");
  }

  @Test
  void acceptedCheatIsHighlighted() throws Exception {
    assertThat(page(trials("cuda", "NVIDIA H200", Status.CORRECT)))
        .contains("| wrong_values | **correct** |")
        .contains("| replay by shape | ✗ 0 of 1 |");
  }

  @Test
  void knownGapsHaveASection() throws Exception {
    String page =
        page(
            trials("cpu", "a CPU", Status.CORRECT, "gap"),
            trials("cuda", "NVIDIA H200", Status.WRONG_VALUES));
    assertThat(page)
        .contains("with static rules on, 1 with them off", "(1 known gaps, accepted)")
        .contains("| replay by shape | ✓ 1 of 1 |");
    assertThat(
            page.substring(page.indexOf("### Known gaps"), page.indexOf("## What is not caught")))
        .contains("cached_by_shape/relu.py")
        .contains("| **correct**, a known gap | wrong_values |");
    assertThat(
            page(
                trials("cpu", "a CPU", Status.WRONG_VALUES),
                trials("cuda", "NVIDIA H200", Status.CORRECT, "gap")))
        .contains("| replay by shape | ✗ 0 of 1 |");
  }

  @Test
  void comparisonHasACellForEachHarness() throws Exception {
    List<String> rows =
        page(trials("cuda", "NVIDIA H200", Status.CHEATING))
            .lines()
            .dropWhile(line -> !line.startsWith("| cheat | kbx |"))
            .takeWhile(line -> line.startsWith("|"))
            .toList();
    assertThat(rows).hasSizeGreaterThan(50);
    int bars = rows.getFirst().split("\\|", -1).length;
    assertThat(rows).allSatisfy(row -> assertThat(row.split("\\|", -1)).hasSize(bars));
    assertThat(rows.subList(2, rows.size()))
        .allSatisfy(row -> assertThat(row).matches("\\| [^|]+(\\| ([✓~✗] ?\\S*[^|]*)? ?)+\\|"));
  }
}
