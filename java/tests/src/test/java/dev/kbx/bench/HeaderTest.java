package dev.kbx.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kbx.verdict.Status;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
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
          .contains("%d candidates that kbx is tested with".formatted(candidates + lines));
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
    assertThat(cheat.onGpu().reason()).isEqualTo(Header.Reason.MERIT);
    assertThat(cheat.onGpu().statuses()).containsExactly(Status.CORRECT);
  }

  @Test
  void headerMayExpectAFlag() {
    Header.Cheat cheat = (Header.Cheat) Header.of(cheatWith("gpu: merit", "flag: state_ignored"));
    assertThat(cheat.flag()).isEqualTo("state_ignored");
    assertThat(((Header.Cheat) Header.of(CHEAT)).flag()).isNull();
  }

  @Test
  void headerMayNameWhereTheMechanismWasPublished() {
    String code = cheatWith("gpu: merit", "source: wafer | cuda-l1");
    assertThat(((Header.Cheat) Header.of(code)).sources()).containsExactly("wafer", "cuda-l1");
    assertThat(((Header.Cheat) Header.of(CHEAT)).sources()).isEmpty();
    assertThat(Header.of("'''Plain.\n\nstyle: two_pass\nsource: wafer\n'''\n"))
        .isEqualTo(new Header.Honest("Plain.", "two_pass", null, List.of("wafer")));
  }

  @Test
  void eachPublicationHasAFileOfTheCorpus() throws Exception {
    Set<String> named = new TreeSet<>();
    for (String folder : List.of("corpus", "corpus/kernelbench")) {
      for (String kind : List.of("cheats", "honest")) {
        for (Header header : headers(Path.of(folder, kind)).values()) {
          named.addAll(
              switch (header) {
                case Header.Cheat cheat -> cheat.sources();
                case Header.Honest honest -> honest.sources();
              });
        }
      }
    }
    assertThat(Publication.ALL.stream().map(Publication::key))
        .doesNotHaveDuplicates()
        .containsExactlyInAnyOrderElementsOf(named);
    assertThat(Publication.ALL).allMatch(each -> each.address().startsWith("https://"));
  }

  @Test
  void headerMayExpectOnlyABrokenProperty() {
    Header.Cheat cheat = (Header.Cheat) Header.of(cheatWith("gpu: merit", "breaks: dtype:float64"));
    assertThat(cheat.beyond()).isEqualTo("dtype:float64");
  }

  @Test
  void knownGapMayEndAsCorrect() {
    Header.Cheat cheat = (Header.Cheat) Header.of(cheatWith("gpu: merit", "gpu: timeout | gap"));
    assertThat(cheat.onGpu().reason()).isEqualTo(Header.Reason.GAP);
    assertThat(cheat.onGpu().statuses()).containsExactlyInAnyOrder(Status.CORRECT, Status.TIMEOUT);
    assertThat(cheat.onCpu().reason()).isNull();
  }

  /** A header that allows whatever happens can say nothing. */
  @Test
  void headersOfTheCorpusAllowTwoFailuresAtMost() throws Exception {
    for (var file : cheatsOfTheCorpus().entrySet()) {
      Header.Cheat cheat = file.getValue();
      for (Header.Ending ending : List.of(cheat.onCpu(), cheat.onGpu())) {
        assertThat(ending.statuses().stream().filter(status -> status != Status.CORRECT))
            .as("%s", file.getKey())
            .hasSizeLessThanOrEqualTo(2);
      }
    }
  }

  /** Without a GPU nothing is timed: what is found out there has merit nowhere. */
  @Test
  void meritOnACpuIsMeritOnAGpu() throws Exception {
    for (var file : cheatsOfTheCorpus().entrySet()) {
      Header.Cheat cheat = file.getValue();
      if (cheat.onCpu().reason() != Header.Reason.MERIT) continue;
      assertThat(cheat.onGpu().reason()).as("%s", file.getKey()).isEqualTo(Header.Reason.MERIT);
    }
  }

  private static Map<Path, Header.Cheat> cheatsOfTheCorpus() throws IOException {
    Map<Path, Header.Cheat> cheats = new TreeMap<>();
    for (String folder : List.of("corpus/cheats", "corpus/kernelbench/cheats")) {
      headers(Path.of(folder)).forEach((file, header) -> cheats.put(file, (Header.Cheat) header));
    }
    assertThat(cheats).hasSizeGreaterThan(300);
    return cheats;
  }

  private static Map<Path, Header> headers(Path folder) throws IOException {
    Map<Path, Header> headers = new TreeMap<>();
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.filter(each -> each.toString().endsWith(".py")).toList()) {
        headers.put(file, Header.of(Files.readString(file)));
      }
    }
    return headers;
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
        .isEqualTo(new Header.Honest("Plain.", "two_pass", null, List.of()));
  }

  @Test
  void aFileMayAskForAPolicy() {
    assertThat(Header.of("'''Plain.\n\nstyle: two_pass\npolicy: mixed\n'''\n"))
        .isEqualTo(new Header.Honest("Plain.", "two_pass", "mixed", List.of()));
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
    "dynamic: wrong_values | cheating, dynamic: correct, gap",
    "dynamic: wrong_values | cheating, dynamic: merit | gap, two reasons",
    "gpu: merit, dynamic: merit, two lines",
    "gpu: merit, style: plain, has a line",
    "gpu: merit, flag: a b, not of the form",
    "gpu: merit, source: hearsay, not in publications.tsv",
    "\"\"\"Does, x = \"\"\"Does, no docstring",
  })
  void missingOrWrongHeaderFieldIsNamed(String old, String line, String words) {
    assertThatThrownBy(() -> Header.of(cheatWith(old, line)))
        .isInstanceOf(Header.Malformed.class)
        .hasMessageContaining(words);
  }
}
