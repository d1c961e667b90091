package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.llm.ScriptedProvider;
import dev.kbx.llm.ScriptedProvider.Asked;
import dev.kbx.llm.ScriptedReply;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** {@code kbx generate} and {@code kbx run} with a provider over HTTP and real judgements. */
class MethodRunsTest {
  private static final Path KERNEL = Path.of("tasks/kernelbenchx/Activation/kernels/tanh.py");

  @TempDir private Path folder;
  private String right = "";
  private String wrong = "";

  @BeforeEach
  void read() throws IOException {
    right = Files.readString(KERNEL);
    wrong = right.replace("libdevice.tanh(x)", "(0.5 * libdevice.tanh(x))");
    assertThat(wrong).isNotEqualTo(right);
  }

  private Path models(ScriptedProvider provider, String format) throws IOException {
    Path file = folder.resolve("models.toml");
    Files.writeString(
        file,
        """
        [[model]]
        name = "scripted"
        provider = "%s"
        base_url = "%s"
        model = "scripted-1"
        key_file = "%s"
        price_input = 1.0
        price_output = 2.0
        price_as_of = 2026-11-25
        """
            .formatted(format, provider.address(), key()));
    return file;
  }

  private Path key() throws IOException {
    Path key = folder.resolve("key");
    if (!Files.exists(key)) {
      Files.createFile(
          key,
          java.nio.file.attribute.PosixFilePermissions.asFileAttribute(
              java.nio.file.attribute.PosixFilePermissions.fromString("rw-------")));
      Files.writeString(key, "sk-secret-of-the-test");
    }
    return key;
  }

  private static String fenced(String code) {
    return "Here it is.\n```python\n" + code + "\n```\n";
  }

  private ScriptedReply refining(Asked asked) {
    boolean first = asked.number() == 1;
    return ScriptedReply.text(fenced(first ? wrong : right));
  }

  /** The example of docs/methods.md. */
  @Test
  void aProgramOfOnesOwnRefines() throws Exception {
    try (ScriptedProvider provider = ScriptedProvider.start(this::refining)) {
      Path out = folder.resolve("external");
      Kbx.Result result =
          Kbx.here(
              "run",
              "--method",
              "external",
              "--program",
              "examples/methods/agent",
              "--model",
              "scripted",
              "--models",
              models(provider, "anthropic"),
              "--tasks",
              "Activation/tanh",
              "--out",
              out,
              "--device",
              "cpu",
              "--json");
      assertThat(result.exit()).as(result.err()).isZero();
      JsonNode verdict = result.json().path("verdicts").path(0);
      assertThat(verdict.path("status").asString()).isEqualTo("correct");
      assertThat(verdict.path("method").asString()).isEqualTo("external");
      assertThat(provider.requests()).isEqualTo(2);
      assertThat(provider.asked().getLast().body().path("messages")).hasSize(3);
      assertThat(provider.asked().getLast().lastMessage()).contains("Correct it.");
      assertThat(Files.readAllLines(out.resolve("ledger.jsonl")))
          .filteredOn(line -> line.contains("\"event\":\"program\""))
          .hasSize(3);
    }
  }

  @Test
  void aProgramThatCannotBeStartedIsSaidBeforeAnythingBegins() {
    for (String[] wrong :
        new String[][] {
          {"--program", "no-such-program x", "no-such-program is no program that can be started"},
          {"--program", "'open", "--program 'open: a quote has no end"},
          {"--temperature", "1", "--program: is missing"},
        }) {
      Kbx.Result result =
          Kbx.here(
              "generate",
              "--method",
              "external",
              wrong[0],
              wrong[1],
              "--tasks",
              "tanh",
              "--out",
              folder.resolve("none"));
      assertThat(result.exit()).isEqualTo(1);
      assertThat(result.err()).contains(wrong[2]).hasLineCount(1);
    }
    assertThat(folder.resolve("none")).doesNotExist();
  }

  /** The bundled ledger, as from a machine that timed one kernel. */
  private Path timed(Path ledger) throws IOException {
    String task = "\"task\":\"Loss/mse_loss\"";
    List<String> lines =
        Files.readAllLines(ledger).stream()
            .map(line ->
                line.contains("\"event\":\"judgement\"") && line.contains(task)
                    ? line.replaceFirst(
                        "\"status\":\"correct\"",
                        "\"status\":\"correct\",\"speedup\":{\"value\":1.9,\"low\":1.8,\"high\":2.0,\"baseline\":\"eager\"}")
                    : line)
            .toList();
    return Files.write(folder.resolve("ledger.jsonl"), lines);
  }

  @Test
  void theDemoReplaysALedgerAndJudgesItsKernels() throws Exception {
    Path demo = Kbx.home().resolve("examples/methods/demo.toml");
    Path _ = timed(demo.resolveSibling("ledger.jsonl"));
    Path file = Files.copy(demo, folder.resolve("demo.toml"));
    Path out = folder.resolve("out");
    Kbx.Result run =
        Kbx.here("run", file, "--tasks", "Loss/mse_loss", "--device", "cpu", "--out", out);
    assertThat(run.exit()).as(run.err()).isZero();
    assertThat(run.out())
        .contains("wrong_shape → correct (1.90×) → correct (1.90×)")
        .contains("not measured in this run: recorded on")
        .containsPattern("refine +replay:.*1/1 +1/1 100 % +1/1 100 % +\\+0")
        .containsPattern("sample +replay:.*4/4 +3/4 +75 %");
    assertThat(Files.readString(out.resolve("report.html")))
        .contains("recorded 1.90×", "id=\"budget\"", "written by hand");

    Kbx.Result budget = Kbx.here("analyze", "budget", "--out", out, "--json");
    assertThat(budget.exit()).as(budget.err()).isZero();
    JsonNode calls = budget.json().path("runs").path(0).path("curves").path(0);
    assertThat(calls.path("kind").asString()).isEqualTo("calls");
    assertThat(calls.path("points").path(1).path("budget").asDouble()).isEqualTo(2);
    assertThat(calls.path("points").path(1).path("solved").asInt()).isEqualTo(1);
    assertThat(calls.path("points").path(2).path("budget").asDouble()).isEqualTo(3);
  }

  @Test
  void generateSaysHowToGetAReport() throws Exception {
    try (ScriptedProvider provider = ScriptedProvider.start(this::refining)) {
      Kbx.Result result =
          Kbx.here(
              "generate",
              "--method",
              "single",
              "--model",
              "scripted",
              "--models",
              models(provider, "openai"),
              "--tasks",
              "Activation/tanh",
              "--out",
              folder.resolve("out"),
              "--device",
              "cpu");
      assertThat(result.exit()).as(result.err()).isZero();
      assertThat(result.out()).containsPattern("report: none yet; 'kbx eval .*/answers' judges");
    }
  }

  @Test
  void aRunWithoutALedgerHasNoBudget() throws Exception {
    Path out = folder.resolve("out");
    Kbx.Result eval =
        Kbx.here(
            "eval",
            Kbx.home().resolve("examples/honest/relu.py"),
            "--stages",
            "static",
            "--out",
            out);
    assertThat(eval.exit()).as(eval.err()).isZero();
    Kbx.Result budget = Kbx.here("analyze", "budget", "--out", out);
    assertThat(budget.exit()).isEqualTo(1);
    assertThat(budget.err()).contains("it is no run of methods; name one of 'kbx run'");
  }

  @Test
  void aRunRefinesAWrongKernelIntoARightOneAndJudgesItAnew() throws Exception {
    try (ScriptedProvider provider = ScriptedProvider.start(this::refining)) {
      Path out = folder.resolve("out");
      Kbx.Result result =
          Kbx.here(
              "run",
              "--method",
              "refine",
              "--turns",
              2,
              "--model",
              "scripted",
              "--models",
              models(provider, "openai"),
              "--tasks",
              "Activation/tanh",
              "--out",
              out,
              "--device",
              "cpu",
              "--json");
      assertThat(result.exit()).as(result.err()).isZero();
      JsonNode verdict = result.json().path("verdicts").path(0);
      assertThat(verdict.path("status").asString()).isEqualTo("correct");
      assertThat(verdict.path("method").asString()).isEqualTo("refine");
      assertThat(provider.requests()).isEqualTo(2);
      List<String> ledger = Files.readAllLines(out.resolve("ledger.jsonl"));
      assertThat(ledger).noneMatch(line -> line.contains("sk-secret"));
    }
  }
}
