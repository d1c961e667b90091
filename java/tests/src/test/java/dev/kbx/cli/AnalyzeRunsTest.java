package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.SimulatedRun;
import dev.kbx.verdict.SourceFeatures;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Status;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** {@code kbx analyze fastp} and {@code passk}, as a user runs them. */
class AnalyzeRunsTest {
  @TempDir private Path folder;

  private Path out;
  private SimulatedRun first;
  private SimulatedRun second;

  @BeforeEach
  void runs() {
    out = folder.resolve("out");
    first =
        SimulatedRun.on(SimulatedRun.H200, 1)
            .asking("exp_sqrt,gelu,selu", 3)
            .timed("Math/exp_sqrt", "exp", 1.5, 1.1, 0.9)
            .wrong("Math/exp_sqrt", "exp 2", Status.WRONG_VALUES)
            .correct("Activation/gelu", "gelu", 0.9)
            .store(out);
    second = SimulatedRun.on(SimulatedRun.H200, 2).correct("Math/exp_sqrt", "exp", 1.4).store(out);
  }

  private static Kbx.Result ok(Object... arguments) {
    Kbx.Result result = Kbx.here(arguments);
    assertThat(result.exit()).as(result.err()).isZero();
    return result;
  }

  @Test
  void fastpDividesByTasksTried() {
    JsonNode document = ok("analyze", "fastp", "--out", out, first.id(), "--json").json();
    assertThat(document.get("kind").asString()).isEqualTo("fastp");
    JsonNode series = document.get("series").get(0);
    assertThat(series.get("pick").asString()).isEqualTo("first_sample");
    assertThat(series.get("series").get("run").get("id").asString()).isEqualTo(first.id());
    JsonNode eager = series.get("against").get(0);
    assertThat(eager.get("overall").get("tasks").asInt()).isEqualTo(2);
    assertThat(eager.get("overall").get("asked").asInt()).isEqualTo(3);
    assertThat(eager.get("overall").get("curve").size()).isEqualTo(3);
    assertThat(eager.get("categories").get(0).get("tasks").asInt()).as("gelu").isEqualTo(1);
    JsonNode compile = series.get("against").get(1).get("overall");
    assertThat(compile.get("unknown").asInt()).isEqualTo(1);
    assertThat(compile.has("curve")).isFalse();
    assertThat(compile.get("thresholds").get(1).has("share")).isFalse();
  }

  @Test
  void severalRunsHaveOneBlockEach() {
    String text = ok("analyze", "fastp", out.resolve(second.id()), out.resolve(first.id())).out();
    assertThat(text.indexOf(second.id())).isNotNegative().isLessThan(text.indexOf(first.id()));
    assertThat(text).contains("50.0 % [", "of 176", "eager");
    assertThat(ok("analyze", "fastp", out, "--best").out()).contains("best of its samples");
    assertThat(ok("analyze", "passk", out, out.resolve(first.id())).out())
        .contains(first.id(), second.id());
  }

  @Test
  void passkNamesRunsAndCriteria() {
    JsonNode document =
        ok("analyze", "passk", out.resolve(first.id()), "--k", "1,2,3", "--json").json();
    assertThat(document.get("kind").asString()).isEqualTo("passk");
    JsonNode correct = document.get("series").get(0).get("measures").get(1);
    assertThat(correct.get("pass").asString()).isEqualTo("correct");
    JsonNode at = correct.get("overall").get("at");
    assertThat(at.get(0).get("value").asDouble()).isEqualTo(0.75);
    assertThat(at.get(0).get("tasks").asInt()).isEqualTo(2);
    assertThat(at.get(1).get("value").asDouble()).isEqualTo(1);
    assertThat(at.get(1).get("tasks").asInt()).isEqualTo(1);
    assertThat(at.get(2).has("value")).isFalse();
    assertThat(at.get(2).get("unknown").asString()).contains("the most is 2");
  }

  /** One task of the first run has two samples, the tasks of the second run one. */
  @Test
  void withoutRunAndSamplesItIsTheNewestRunAtTheNumbersThatItHas() {
    JsonNode document = ok("analyze", "passk", "--out", out, "--json").json();
    JsonNode series = document.get("series").get(0);
    assertThat(series.get("series").get("run").get("id").asString()).isEqualTo(second.id());
    assertThat(series.get("ks")).hasToString("[1]");
    JsonNode two = ok("analyze", "passk", "--out", out, first.id(), "--json").json();
    assertThat(two.get("series").get(0).get("ks")).hasToString("[1,2]");
    assertThat(ok("analyze", "fastp", "--out", out).out()).contains(second.id());
  }

  @Test
  void analyzeWithoutArgumentsSummarisesTheNewestRun() {
    assertThat(ok("analyze", "--out", out).out())
        .startsWith("all candidates solve 100.0 % [")
        .contains("kernelbenchx, run " + second.id());
    JsonNode summary = ok("analyze", "--out", out, "--json").json();
    assertThat(summary.get("kind").asString()).isEqualTo("summary");
    assertThat(summary.get("summary").has("methods")).isTrue();
  }

  @Test
  void qualityTakesTheComplexityOfReferencesFromTheSuite() {
    SimulatedRun run = SimulatedRun.on(SimulatedRun.H200, 5).by("a");
    run.featuring(new SourceFeatures("s", 3, 20, List.of("fusion")));
    run.correct("Math/exp_sqrt", "a", 1.5).correct("Activation/gelu", "b", 1.5);
    run.uncallable("LinearAlgebra/qr", "c", Status.COMPILE_ERROR).store(out);
    JsonNode quality =
        ok("analyze", "quality", run.id(), "--out", out, "--json").json().get("quality");
    assertThat(quality.get("without_reference").asInt()).isZero();
    JsonNode effect = quality.get("complexity").get(0);
    assertThat(effect.get("of").asString()).isEqualTo("reference");
    assertThat(effect.get("tasks").asInt()).isEqualTo(3);
    assertThat(effect.get("rho").asDouble()).isBetween(-1.0, 1.0);
    JsonNode technique = quality.get("techniques").get(0);
    assertThat(technique.get("technique").asString()).isEqualTo("fusion");
    assertThat(technique.get("all").get("attempted").asInt()).isEqualTo(3);
    assertThat(ok("analyze", "quality", run.id(), "--out", out).out()).contains("fusion");
    assertThat(ok("analyze", "efficiency", run.id(), "--out", out).out())
        .contains("No figures of the device");
  }

  @Test
  void devianceUsesNamedRunsOrTheNewest() {
    JsonNode document =
        ok("analyze", "deviance", first.id(), second.id(), "--out", out, "--json").json();
    assertThat(document.get("kind").asString()).isEqualTo("deviance");
    JsonNode deviance = document.get("deviance");
    JsonNode entered = deviance.get("entered");
    assertThat(entered.get("runs").size()).isEqualTo(2);
    assertThat(entered.get("candidates").asInt()).as("one is in both").isEqualTo(3);
    assertThat(entered.get("repeated").asInt()).isEqualTo(1);
    JsonNode correct = deviance.get("outcomes").get(1);
    assertThat(correct.get("outcome").asString()).isEqualTo("correct");
    assertThat(correct.get("passes").asInt()).isEqualTo(2);
    JsonNode category = correct.get("factors").get(0);
    assertThat(category.get("factor").asString()).isEqualTo("category");
    assertThat(category.get("explained").asDouble()).isBetween(0.0, 1.0);
    assertThat(category.get("permutation").get("p_value").asDouble()).isPositive();
    assertThat(ok("analyze", "deviance", "--out", out).out())
        .startsWith("kernelbenchx, run " + second.id())
        .contains("1 judged candidate of 1 of 176 tasks", "correct: no figures");
  }

  @Test
  void devianceOfTwoSuitesIsRefused() {
    Path other = folder.resolve("other");
    SimulatedRun.on(SimulatedRun.H200, 4)
        .of("kernelbench")
        .untimed("level1/1_Square", "a")
        .store(other);
    refused("runs of two suites, kernelbenchx and kernelbench", "analyze", "deviance", out, other);
  }

  @Test
  void iterationsNeedRounds() {
    refused("no rounds in run " + second.id(), "analyze", "iterations", "--out", out);
    SimulatedRun refined = SimulatedRun.on(SimulatedRun.H200, 5).by("refine");
    refined.round(0).wrong("Math/exp_sqrt", "r0", Status.WRONG_VALUES);
    refined.round(1).correct("Math/exp_sqrt", "r1", 1.2).store(out);
    JsonNode method =
        ok("analyze", "iterations", "--out", out, "--json")
            .json()
            .get("iterations")
            .get("methods")
            .get(0);
    assertThat(method.get("steps").get(0).get("rescued").asInt()).isEqualTo(1);
    assertThat(method.get("asked").asInt()).isEqualTo(176);
    assertThat(ok("analyze", "iterations", out).out())
        .contains("refine: 1 attempt at 1 of 176 tasks");
  }

  @Test
  void methodsStandSideBySide() {
    SimulatedRun.on(SimulatedRun.H200, 6)
        .by("other")
        .wrong("Math/exp_sqrt", "o", Status.TIMEOUT)
        .store(out);
    JsonNode methods =
        ok(
                "analyze",
                "methods",
                "--out",
                out,
                first.id(),
                out.resolve("20261121T063506-kqzp"),
                "--k",
                "2,1",
                "--p",
                "1.2",
                "--json")
            .json()
            .get("methods");
    assertThat(methods.get("methods").size()).isEqualTo(2);
    assertThat(methods.get("methods").get(1).get("maker").get("method").asString())
        .isEqualTo("other");
    assertThat(methods.get("pairs").get(0).get("compared").get("tasks").asInt()).isEqualTo(1);
    assertThat(ok("analyze", "methods", out.resolve(first.id())).out())
        .contains("correct ÷ called", "solved by");
    refused("--p 0: more than 0", "analyze", "methods", out, "--p", "0");
    refused("--k many: is not a whole number", "analyze", "methods", out, "--k", "many");
  }

  @Test
  void errorsComeWithAdvice() {
    JsonNode errors =
        ok("analyze", "errors", first.id(), "--out", out, "--json").json().get("errors");
    assertThat(errors.get("failed").asInt()).isEqualTo(1);
    assertThat(errors.get("statuses").get(0).get("status").asString()).isEqualTo("wrong_values");
    assertThat(errors.get("advice").get(0).get("candidates").asInt()).isEqualTo(1);
    assertThat(errors.get("entered").get("candidates").asInt()).isEqualTo(3);
    assertThat(ok("analyze", "errors", out.resolve(first.id())).out())
        .contains("1 of 3 candidates is not correct.", "Mask the last block");
  }

  @Test
  void summaryShowsRatesFailuresAndAdvice() throws Exception {
    String text = ok("analyze", "summary", first.id(), second.id(), "--out", out).out();
    assertThat(text)
        .contains("tasks tried", "1 of 3 candidates is not correct: 1 wrong_values.")
        .contains("Advice, by how many of them it is about.")
        .doesNotContain("rescued");
    JsonNode summary = ok("analyze", "summary", out, "--json").json().get("summary");
    assertThat(summary.has("methods")).isTrue();
    assertThat(summary.has("iterations")).as("no rounds").isFalse();
    Kbx.Result alone = Kbx.run(folder, "analyze");
    assertThat(alone.err()).startsWith("kbx: kbx-out: no runs there");
    Files.move(out, folder.resolve("kbx-out"));
    assertThat(Kbx.run(folder, "analyze").out()).contains(second.id());
  }

  @Test
  void runWithoutVerdictsIsReported() {
    SimulatedRun.on(SimulatedRun.H200, 7).store(out);
    assertThat(ok("analyze", "summary", "--out", out).out()).contains("No candidate was judged.");
    assertThat(ok("analyze", "methods", "--out", out).out())
        .contains("No candidate was judged.", "0 judged candidates of 0 of 176 tasks.");
    assertThat(ok("analyze", "errors", "--out", out).out()).contains("0 of 0 candidates");
    assertThat(ok("analyze", "deviance", "--out", out).out()).contains("correct: no figures");
  }

  @Test
  void unanalysableRunsAreOneLineErrors() {
    SimulatedRun.on(SimulatedRun.H200, 3)
        .stages(Stage.STATIC, Stage.CALL)
        .untimed("Math/exp_sqrt", "exp")
        .store(folder.resolve("called"));
    refused("the correct stage was not asked for", "analyze", "fastp", folder.resolve("called"));
    refused("at least 1", "analyze", "passk", out, "--k", "1,0");
    refused("is not a whole number", "analyze", "passk", out, "--k", "many");
  }

  @Test
  void unknownRunIsNamedWithTheKnownRuns() throws Exception {
    String no = "nowhere: no such results folder, and ";
    String ids = "%s, %s".formatted(second.id(), first.id());
    refused(
        no + "no such run in %s; there: %s\n".formatted(out, ids),
        "analyze",
        "passk",
        "--out",
        out,
        "nowhere");
    refused(
        "%s/nowhere: no such results folder, and no such run in %s; there: %s"
            .formatted(out, out, ids),
        "analyze",
        "fastp",
        out.resolve("nowhere"));
    Path gone = folder.resolve("gone");
    String forms = "name a results folder, FOLDER/ID, or an id in --out";
    refused(
        no + "no runs in %s; %s".formatted(gone, forms),
        "analyze",
        "fastp",
        "--out",
        gone,
        "nowhere");
    Path file = Files.createFile(folder.resolve("file"));
    refused(file + ": is a file; " + forms, "analyze", "fastp", file);
    refused("%s: no run x; there: %s".formatted(out, ids), "runs", "show", "x", "--out", out);
    for (int i = 3; i <= 6; i++) SimulatedRun.on(SimulatedRun.H200, i).store(out);
    refused("no run x; the newest of the 6 there: ", "runs", "delete", "x", "--out", out);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "UPDATE verdict SET body = '{bad', brief = '{bad' WHERE run = '%s'",
        "UPDATE verdict SET body = '{}', brief = NULL WHERE run = '%s'",
        "UPDATE run SET info = '{}' WHERE id = '%s'",
      })
  void aDamagedRunIsNamedAndCanBeDeleted(String statement) throws Exception {
    Path file = out.resolve("kbx.db");
    try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file);
        Statement damage = connection.createStatement()) {
      damage.execute(statement.formatted(first.id()));
    }
    for (Kbx.Result result :
        List.of(
            Kbx.here("runs", "show", first.id(), "--out", out),
            Kbx.here("analyze", "passk", first.id(), "--out", out))) {
      assertThat(result.exit()).isEqualTo(ExitCode.INCOMPLETE);
      assertThat(result.err())
          .startsWith("kbx: " + file + ": is damaged: run " + first.id() + " cannot be read; ");
      assertThat(result.err().lines()).hasSize(1);
    }
    ok("runs", "delete", first.id(), "--out", out);
    assertThat(ok("runs", "list", "--out", out).out()).doesNotContain(first.id());
  }

  @Test
  void runsAreNamedAndFoundByTheirName() {
    assertThat(ok("runs", "list", "--out", out).out()).doesNotContain("NAME");
    ok("runs", "name", first.id(), "--name", "warm start", "--note", "new prompts", "--out", out);
    assertThat(ok("runs", "list", "--out", out).out())
        .containsPattern("RUN +NAME +STATE")
        .containsPattern(first.id() + " +warm start +complete");
    assertThat(ok("analyze", "fastp", "warm start", "--out", out).out()).contains(first.id());
    JsonNode shown = ok("runs", "show", first.id(), "--json", "--out", out).json().get("run");
    assertThat(shown.get("name").asString()).isEqualTo("warm start");
    assertThat(shown.get("note").asString()).isEqualTo("new prompts");
    Path page = folder.resolve("page.html");
    ok("report", "warm start", "--out", out, "--output", page);
    assertThat(page)
        .content()
        .contains("<span>warm start (" + first.id() + ")</span>", "new prompts");
    ok("runs", "name", first.id(), "--name", "", "--out", out);
    assertThat(ok("runs", "list", "--out", out).out()).doesNotContain("NAME");
    refused("no such run in", "analyze", "fastp", "warm start", "--out", out);
    refused("runs name: give --name, --note or both", "runs", "name", "--out", out);
    refused(
        "--name a b: is not one line of plain text",
        "runs",
        "name",
        "--name",
        "a\nb",
        "--out",
        out);
  }

  @Test
  void evalNamesItsRun() throws Exception {
    Path source =
        Files.writeString(folder.resolve("gelu.py"), "def gelu(input):\n    return input\n");
    ok("eval", source, "--stages", "static", "--name", "mine", "--note", "why", "--out", out);
    JsonNode newest = ok("runs", "list", "--json", "--out", out).json().get(0);
    assertThat(newest.get("name").asString()).isEqualTo("mine");
    assertThat(newest.get("note").asString()).isEqualTo("why");
    assertThat(out.resolve("report.html")).content().contains("mine (");
  }

  @Test
  void interruptedRunNamesItsMissingCandidates() {
    SimulatedRun cut =
        SimulatedRun.on(SimulatedRun.H200, 3).correct("Math/exp", "e", 1).cutOff(4).store(out);
    assertThat(ok("runs", "show", cut.id(), "--out", out).out())
        .endsWith(
            "Without a verdict: 4 of 5 candidates; if no kbx is at it, 'kbx eval --resume' goes"
                + " on.\n");
    assertThat(ok("runs", "show", first.id(), "--out", out).out()).doesNotContain("Cut off");
  }

  @Test
  void helpFitsATerminal() {
    for (String command :
        new String[] {
          "deviance",
          "efficiency",
          "errors",
          "fastp",
          "iterations",
          "methods",
          "passk",
          "quality",
          "summary"
        }) {
      assertThat(ok("analyze", command, "--help").out().lines())
          .allMatch(line -> line.length() <= 80)
          .anyMatch(line -> line.contains("Usage: kbx analyze " + command));
    }
  }

  private static void refused(String why, Object... arguments) {
    Kbx.Result result = Kbx.here(arguments);
    assertThat(result.exit()).isEqualTo(1);
    assertThat(result.out()).isEmpty();
    assertThat(result.err()).startsWith("kbx: ").contains(why).doesNotContain("\tat ");
  }
}
