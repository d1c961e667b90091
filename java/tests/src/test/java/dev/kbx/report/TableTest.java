package dev.kbx.report;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.document.Text;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.node.ObjectNode;

class TableTest {
  @ParameterizedTest
  @ValueSource(ints = {20, 60, 80, 109, 110, 120, 200})
  void noLineIsWiderThanTheTerminal(int width) {
    for (var device : List.of(Fixtures.CPU, Fixtures.H200)) {
      String table = render(new Table(width, false), Fixtures.examples(device), device);
      assertThat(table.lines()).allMatch(line -> Text.columns(line) <= Math.max(width, 60));
    }
  }

  @Test
  void eachCandidateHasARowAndReason() {
    String table = render(new Table(120, false), Fixtures.examples(Fixtures.CPU), Fixtures.CPU);
    assertThat(table.lines().filter(l -> l.endsWith(" correct") && !l.startsWith("category")))
        .hasSize(16);
    assertThat(table)
        .contains("gelu#1", "wrong_values", "21 of 1,003 elements")
        .contains("torch-computation: ")
        .contains("16 correct · 1 rejected_static")
        .contains("18 of 20 tasks of kernelbenchx")
        .contains("Performance was not measured: this run used no GPU.")
        .doesNotContain("speedup");
  }

  @Test
  void coloursDoNotChangeText() {
    List<Verdict> verdicts = Fixtures.examples(Fixtures.H200);
    String plain = render(new Table(80, false), verdicts, Fixtures.H200);
    String coloured = render(new Table(80, true), verdicts, Fixtures.H200);
    assertThat(coloured).contains("\u001b[32mcorrect").isNotEqualTo(plain);
    assertThat(coloured.replaceAll("\u001b\\[\\d+m", "")).isEqualTo(plain);
    assertThat(plain).contains("1.10×").doesNotContain("\u001b");
    assertThat(plain.lines())
        .as("no room for intervals of three rates in 80 columns")
        .anyMatch(line -> line.matches("all +26 +18/25 72.0 % +16/25 64.0 % +16/25 64.0 %"))
        .anyMatch(
            line -> line.matches("tasks tried +26 +17/17 100.0 % +16/17 94.1 % +16/17 94.1 %"));
  }

  @Test
  void dependentCandidatesAreNamed() {
    List<Verdict> verdicts = new ArrayList<>();
    for (int sample = 0; sample < 2; sample++) {
      verdicts.add(
          Fixtures.failed("Math/sin", sample, Status.WRONG_VALUES, Stage.CORRECT)
              .build(Fixtures.CPU));
    }
    RunInfo run = Fixtures.run(Fixtures.CPU, 2, 20);
    assertThat(render(new Table(120, false), verdicts, run).replaceAll("\\s+", " "))
        .contains("Tasks have several candidates, which are not independent");
    assertThat(render(new Table(120, false), verdicts.subList(0, 1), run))
        .doesNotContain("independent");
  }

  @Test
  void generalRateIsShownBesidePublishedRate() {
    List<Verdict> verdicts =
        List.of(
            general("Math/exp", true),
            general("Math/log", false),
            Fixtures.failed("Math/sin", 0, Status.WRONG_VALUES, Stage.CORRECT)
                .build(Fixtures.H200));
    RunInfo run = atPublished(Fixtures.run(Fixtures.H200, 3, 20));
    assertThat(render(new Table(120, false), verdicts, run))
        .containsPattern("candidates +called +correct +general +timed")
        .containsPattern("Math +3 +3/3.* 2/3 66.7 % \\[21–94] +1/3 33.3 % \\[6–79] +2/3");
    assertThat(render(new Table(80, false), verdicts, run).lines())
        .anyMatch(line -> line.matches("all +3 +3/3 100.0 % +2/3 66.7 % +1/3 33.3 % +2/3 66.7 %"));
    assertThat(render(new Table(60, false), verdicts, run).lines())
        .anyMatch(line -> line.matches("tasks tried +3 +3/3 100.0 % +2/3 66.7 %.*"));
    List<Verdict> unknown = List.of(general("Math/exp", null));
    assertThat(render(new Table(80, false), unknown, run)).containsPattern("Math +1 .* not known ");
    assertThat(render(new Table(80, false), verdicts, Fixtures.run(Fixtures.H200, 3, 20)))
        .as("all calls decided")
        .containsPattern("called +correct +timed");
  }

  /** A correct one of which it is known, or not, whether it is so at the general grade. */
  private static Verdict general(String task, @Nullable Boolean ok) {
    return with(
        Fixtures.passed(task, 0, "a.py", Fixtures.H200, 0),
        Verdict.class,
        json -> {
          json.put("published_ok", true);
          if (ok != null) json.put("general_ok", ok);
        });
  }

  @Test
  void methodsHaveColumnsInTheOrderOfTheirRanks() {
    List<Verdict> verdicts =
        List.of(by("sample", "Math/exp"), by("refine", "Math/log"), by("sample", "Math/sin"));
    assertThat(render(new Table(80, false), verdicts, Fixtures.run(Fixtures.CPU, 3, 20)))
        .containsPattern("category +sample +refine +tasks tried")
        .contains("sample solves 100.0 % [34–100] of 2 tasks; not told apart from refine (no")
        .contains("Tried: 3 of 20 tasks.");
  }

  private static Verdict by(String method, String task) {
    return with(
        Fixtures.passed(task, 0, "a.py", Fixtures.CPU, 0),
        Verdict.class,
        json -> json.put("method", method));
  }

  private static RunInfo atPublished(RunInfo run) {
    return with(run, RunInfo.class, json -> json.put("grade", "published"));
  }

  private static <T> T with(T value, Class<T> type, Consumer<ObjectNode> change) {
    ObjectNode json = Json.mapper().valueToTree(value);
    change.accept(json);
    return Json.mapper().treeToValue(json, type);
  }

  @Test
  void fewCandidatesShowTheirProfiles() {
    List<Verdict> verdicts =
        Fixtures.examples(Fixtures.H200).stream()
            .filter(v -> v.judgement().profile() != null)
            .toList();
    assertThat(render(new Table(80, false), verdicts, Fixtures.H200))
        .containsPattern("gelu_kernel +0.0482 ms +88.8 % +91.3 % +12.5 %");
  }

  @Test
  void manyCandidatesHaveALineEach() {
    List<Verdict> verdicts = new ArrayList<>();
    for (int i = 0; i < 22; i++) {
      verdicts.add(
          Fixtures.failed("Math/exp", i, Status.WRONG_VALUES, Stage.CORRECT)
              .message("case %d: expected 1, got 2".formatted(i))
              .build(Fixtures.CPU));
    }
    String table = render(new Table(100, false), verdicts, Fixtures.CPU);
    assertThat(table.lines().count()).isLessThanOrEqualTo(40);
    assertThat(table.lines()).allMatch(line -> line.length() <= 100);
    assertThat(table).contains("exp#21").contains("wrong_values  case 21: expected 1, got 2");
  }

  @Test
  void memoryHasAColumnWhereACandidateFailsByIt() {
    List<Verdict> verdicts = new ArrayList<>();
    Status[] statuses = {
      Status.RACE, Status.OUT_OF_BOUNDS, Status.OUT_OF_BOUNDS, Status.WRONG_VALUES, Status.CRASHED
    };
    for (Status status : statuses) {
      verdicts.add(
          Fixtures.failed("Math/exp", verdicts.size(), status, Stage.CORRECT).build(Fixtures.CPU));
    }
    assertThat(render(new Table(100, false), verdicts, Fixtures.CPU))
        .containsPattern("category .* correct +memory")
        .containsPattern("Math .* 3\\n");
    assertThat(render(new Table(100, false), verdicts.subList(3, 5), Fixtures.CPU))
        .doesNotContain("memory");
  }

  @Test
  void controlCharactersOfCandidatesAreEscaped() {
    var verdict =
        Fixtures.failed("Math/exp", 0, Status.RUNTIME_ERROR, Stage.CALL)
            .message("\u001b[2J\u202Egone\r\n\u0007\u009b1m")
            .build(Fixtures.CPU);
    String table = render(new Table(120, false), List.of(verdict), Fixtures.CPU);
    assertThat(table.codePoints().filter(c -> c != '\n' && Character.isISOControl(c))).isEmpty();
    assertThat(table).doesNotContain("\u202E").contains("[2J gone 1m");
  }

  @Test
  void manyFailuresAreListedInPart() {
    List<Verdict> verdicts = Fixtures.many(500, Fixtures.CPU);
    String table = render(new Table(80, false), verdicts, Fixtures.CPU);
    assertThat(table.lines().count()).isLessThan(60);
    assertThat(table)
        .contains("… and 488 more; all are in out/report.html")
        .containsPattern("all +500 +500/500 100.0 %")
        .containsPattern("tasks tried +500 +4/4 100.0 %")
        .contains("167 correct");
  }

  @Test
  void firstRowsAreListedWhenNoneFails() {
    List<Verdict> correct =
        Fixtures.many(500, Fixtures.CPU).stream()
            .filter(verdict -> verdict.judgement().status() == Status.CORRECT)
            .toList();
    String table = render(new Table(80, false), correct, Fixtures.CPU);
    assertThat(table.lines().filter(line -> line.matches(".* correct +correct.*"))).hasSize(12);
    assertThat(table).contains("… and 155 more; all are in out/report.html");
  }

  /** Who names a file asks what came of it; the suite is no denominator. */
  @Test
  void namedFileIsNotCountedAgainstTheSuite() {
    List<Verdict> one = List.of(Fixtures.passed("Math/exp", 0, "exp.py", Fixtures.H200, 2));
    assertThat(ofFiles(one, Fixtures.H200, "exp.py"))
        .isEqualTo(
            """
            task      source  status   stage      time            speedup
            Math/exp  exp.py  correct  correct  3.04 s  1.10× [1.08–1.12]

            Speedup against eager.
            1 of 1 correct.
            Judged at the general grade, policy kernel.
            """);
    String wrong = "why ".repeat(100);
    var failed =
        Fixtures.failed("Math/exp", 0, Status.WRONG_VALUES, Stage.CORRECT).message(wrong.strip());
    String table = ofFiles(List.of(failed.build(Fixtures.CPU)), Fixtures.CPU, "exp.PY");
    assertThat(table).contains("0 of 1 correct.", "this run used no GPU");
    assertThat(table.split("why", -1)).as("all of the message").hasSize(101);
    assertThat(ofFiles(List.of(), Fixtures.CPU, "exp.py")).contains("No candidate was judged.");
  }

  @Test
  void severalFilesAreListedAndTheCorrectOnesCounted() {
    List<Verdict> verdicts = Fixtures.examples(Fixtures.CPU);
    assertThat(ofFiles(verdicts, Fixtures.CPU, "gelu.py", "silu.py"))
        .contains("gelu#1", "16 correct · 1 rejected_static")
        .contains("16 of 26 correct, 1 not judged (the task or kbx failed).")
        .doesNotContain("%", "kernelbenchx", "category");
    assertThat(ofFiles(verdicts, Fixtures.CPU, "gelu.py", "kernels"))
        .as("a folder is an attempt at the suite")
        .contains("18 of 20 tasks of kernelbenchx have a candidate.");
  }

  private static String ofFiles(List<Verdict> verdicts, Verdict.Device device, String... sources) {
    var run = Fixtures.run(device, verdicts.size(), 20, List.of(sources));
    return new Table(100, false)
        .render(run, RunVerdicts.of(verdicts), Fixtures.asked(run, verdicts), "out/report.html");
  }

  @Test
  void emptyRunIsReported() {
    assertThat(render(new Table(80, false), List.of(), Fixtures.CPU))
        .contains("No candidate was judged.");
  }

  @Test
  void textIsCutByColumns() {
    assertThat(Text.cut("Softmax über 行列です", 16)).isEqualTo("Softmax über 行…");
    assertThat(Text.wrap("line 3: reads a clock; instead: compute", 16, 3))
        .containsExactly("line 3: reads a", "clock; instead:", "compute");
    assertThat(Text.wrap("one two three four", 7, 2)).containsExactly("one two", "three…");
    assertThat(Text.cutMiddle("examples/honest/Activation/gelu.py", 20))
        .isEqualTo("exampl…ation/gelu.py");
    assertThat(Text.columns("e\u0301行")).isEqualTo(3);
  }

  private static String render(Table table, List<Verdict> verdicts, Verdict.Device device) {
    return render(table, verdicts, Fixtures.run(device, verdicts.size(), 20));
  }

  private static String render(Table table, List<Verdict> verdicts, RunInfo run) {
    return table.render(
        run, RunVerdicts.of(verdicts), Fixtures.asked(run, verdicts), "out/report.html");
  }
}
