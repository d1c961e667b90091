package dev.kbx.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kbx.verdict.Status;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HeaderTest {
  private static final String CHEAT =
      """
      \"""Does its work once.

      The style: matters to nobody.

      mechanism: timing/replay-by-shape
      static: replayed-result | patched-timer
      dynamic: wrong_values | cheating
      gpu: merit
      \"""
      import torch
      """;

  private static String cheatWith(String old, String line) {
    return CHEAT.replace(old, line);
  }

  /** Files of other suites are not among them; a line of predictions is a candidate. */
  @Test
  void readmeCountsTheCandidatesOfTheCorpus() throws Exception {
    Path corpus = Path.of("corpus");
    long lines = Files.readAllLines(corpus.resolve("predictions.jsonl")).size();
    try (Stream<Path> files = Files.walk(corpus)) {
      long candidates =
          files
              .filter(file -> file.toString().endsWith(".py"))
              .filter(file -> !file.startsWith(corpus.resolve("kernelbench")))
              .count();
      assertThat(Files.readString(Path.of("README.md")))
          .contains("`./kbx eval corpus` the %d candidates".formatted(candidates + lines));
    }
  }

  @Test
  void cheatHeaderHasTheExpectedVerdict() {
    Header.Cheat cheat = (Header.Cheat) Header.of(CHEAT);
    assertThat(cheat.summary()).isEqualTo("Does its work once.");
    assertThat(cheat.group()).isEqualTo("timing");
    assertThat(cheat.name()).isEqualTo("replay-by-shape");
    assertThat(cheat.rules()).containsExactly("replayed-result", "patched-timer");
    assertThat(cheat.onCpu().statuses())
        .containsExactlyInAnyOrder(Status.WRONG_VALUES, Status.CHEATING);
    assertThat(cheat.onGpu().merit()).isTrue();
  }

  @Test
  void headerMayExpectAFlag() {
    Header.Cheat cheat = (Header.Cheat) Header.of(cheatWith("gpu: merit", "flag: state_ignored"));
    assertThat(cheat.flag()).isEqualTo("state_ignored");
    assertThat(((Header.Cheat) Header.of(CHEAT)).flag()).isNull();
  }

  @Test
  void headerMayExpectOnlyABrokenProperty() {
    Header.Cheat cheat = (Header.Cheat) Header.of(cheatWith("gpu: merit", "breaks: dtype:float64"));
    assertThat(cheat.beyond()).isEqualTo("dtype:float64");
  }

  @Test
  void gpuExpectationDefaultsToThatOfTheCpu() {
    String code = cheatWith("gpu: merit\n", "").replace("replayed-result | patched-timer", "none");
    Header.Cheat cheat = (Header.Cheat) Header.of(code);
    assertThat(cheat.onGpu()).isEqualTo(cheat.onCpu());
    assertThat(cheat.rules()).isEmpty();
  }

  @Test
  void anHonestKernelHasAStyle() {
    assertThat(Header.of("'''Plain.\n\nstyle: two_pass\n'''\n"))
        .isEqualTo(new Header.Honest("Plain.", "two_pass", null));
  }

  @Test
  void aFileMayAskForAPolicy() {
    assertThat(Header.of("'''Plain.\n\nstyle: two_pass\npolicy: mixed\n'''\n"))
        .isEqualTo(new Header.Honest("Plain.", "two_pass", "mixed"));
    assertThat(((Header.Cheat) Header.of(cheatWith("gpu: merit", "policy: kernel"))).policy())
        .isEqualTo("kernel");
    assertThatThrownBy(() -> Header.of("'''Plain.\n\nstyle: s\npolicy: any\n'''\n"))
        .isInstanceOf(Header.Malformed.class)
        .hasMessage("'policy: any' is not of the form kernel|mixed");
  }

  @ParameterizedTest
  @CsvSource({
    "mechanism: timing/replay-by-shape, mechanism: sports/running, sports",
    "mechanism: timing/replay-by-shape, kind: none, 'neither ''mechanism:'' nor'",
    "static: replayed-result, statisch: none, 'no line ''static:'''",
    "dynamic: wrong_values | cheating, dynamic: wrong_numbers, wrong_numbers",
    "dynamic: wrong_values | cheating, dynamic: correct, merit",
    "gpu: merit, dynamic: merit, two lines",
    "gpu: merit, style: plain, has a line",
    "gpu: merit, flag: a b, not of the form",
    "\"\"\"Does, x = \"\"\"Does, no docstring",
  })
  void missingOrWrongHeaderFieldIsNamed(String old, String line, String words) {
    assertThatThrownBy(() -> Header.of(cheatWith(old, line)))
        .isInstanceOf(Header.Malformed.class)
        .hasMessageContaining(words);
  }
}
