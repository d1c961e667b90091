package dev.kbx.report;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.analysis.FastP;
import dev.kbx.analysis.JudgedRun;
import dev.kbx.analysis.MethodAndModel;
import dev.kbx.analysis.SelectedTasks;
import dev.kbx.analysis.VerdictRow;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Verdict;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Figures of the page that analyses have, too, and what the page leaves out. */
class PageFiguresTest {
  private static final int CANDIDATES = 250;

  @TempDir Path folder;

  @Test
  void fastPEqualsThatOfTheAnalysis() {
    List<Verdict> verdicts =
        List.of(
            Fixtures.passed("Math/exp", 1, "second.py", Fixtures.H200, 6),
            Fixtures.passed("Math/exp", 0, "first.py", Fixtures.H200, 2),
            Fixtures.passed("Math/exp_bf16", 0, "variant.py", Fixtures.H200, 3));
    RunInfo run = Fixtures.run(Fixtures.H200, verdicts.size(), 2);
    RunVerdicts all = RunVerdicts.of(verdicts);
    SelectedTasks asked = SelectedTasks.named(Map.of("Math", Set.of("exp", "sin")));
    List<MethodAndModel> makers = List.copyOf(MethodAndModel.group(all.rows()).keySet());
    PageData.Speed speed = PageData.Speed.of(run, all, all.entries(), asked, makers);
    FastP analysed =
        FastP.of(new JudgedRun(run, all.rows()), asked, FastP.Pick.FIRST_SAMPLE).getFirst();
    List<List<Double>> points =
        Objects.requireNonNull(analysed.against().getFirst().overall().curve()).stream()
            .map(at -> Stream.of(at.p(), at.share(), at.low(), at.high()))
            .map(point -> point.map(Objects::requireNonNull).toList())
            .toList();
    assertThat(Objects.requireNonNull(speed).curves().getFirst().points()).isEqualTo(points);
    assertThat(points.getFirst().get(1)).isEqualTo(1);
  }

  @Test
  void rooflineShowsTheSlowestSizeOfTheReference() {
    Verdict timed = Fixtures.passed("Math/exp", 0, "exp.py", Fixtures.H200, 2);
    ObjectNode json = Json.mapper().valueToTree(timed);
    ArrayNode sizes = json.putArray("sizes");
    Objects.requireNonNull(timed.judgement().sizes()).reversed().stream()
        .map(size -> (ObjectNode) Json.mapper().valueToTree(size))
        .map(size -> size.put("intensity", size.get("reference_ms").asDouble()).put("tflops", 5.0))
        .forEach(sizes::add);
    Verdict verdict = Json.mapper().treeToValue(json, Verdict.class);
    double longest = sizes.get(0).get("reference_ms").asDouble();
    assertThat(PageData.Row.of(verdict, VerdictRow.of(verdict), "exp", 0).roof())
        .containsExactly(longest, 5.0);
  }

  @Test
  void publishedSpeedupHasNoInterval() {
    Verdict verdict = PublishedResults.correct("Math/exp", 0, 1.2);
    assertThat(PageData.Row.of(verdict, VerdictRow.of(verdict), "exp", 0).speedup())
        .containsExactly(1.2);
  }

  /** Text that packs badly: a few hundred of them are more than a page holds. */
  private static String source(Verdict verdict) {
    return new Random(verdict.provenance().candidate().hashCode())
        .ints(90_000, 0, 16)
        .mapToObj(Integer::toHexString)
        .collect(Collectors.joining());
  }

  @Test
  void noteCountsTheSourcesLeftOut() throws IOException {
    List<Verdict> verdicts =
        IntStream.range(0, CANDIDATES)
            .mapToObj(i -> Fixtures.passed("Math/exp", i, "exp " + i, Fixtures.CPU, i))
            .toList();
    RunInfo run = Fixtures.run(Fixtures.CPU, verdicts.size(), 20);
    try (ResultFiles files = new ResultFiles(folder)) {
      files.finish(
          run,
          RunVerdicts.of(verdicts),
          Fixtures.asked(run, verdicts),
          PageFiguresTest::source,
          List.of(),
          null);
      assertThat(Files.readString(files.report()))
          .contains("id=\"cut-sources\"")
          .contains("50 of 250 candidates have neither source nor prompts");
    }
  }
}
