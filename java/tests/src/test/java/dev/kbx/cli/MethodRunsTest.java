package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.llm.ChatReply.Usage;
import dev.kbx.llm.ScriptedProvider;
import dev.kbx.llm.ScriptedProvider.Asked;
import dev.kbx.llm.ScriptedReply;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.Verdict;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** {@code kbx generate} and {@code kbx run} with a provider over HTTP and real judgements. */
class MethodRunsTest {
  private static final Path KERNEL = Path.of("tasks/kernelbenchx/Activation/kernels/tanh.py");

  /** Every method, as small as it can be while it still gets feedback. */
  private static final Map<String, String> METHODS =
      new TreeMap<>(
          Map.of(
              "single", "",
              "sample", "samples = 2",
              "bestof", "width = 2",
              "refine", "turns = 2",
              "geak", "turns = 2\nwidth = 1\nas-published = true",
              "kernelagent", "turns = 3\nwidth = 1\nas-published = true",
              "evolve", "turns = 2\nwidth = 1"));

  @TempDir private Path folder;
  private String right = "";
  private String wrong = "";

  @BeforeEach
  void read() throws IOException {
    right = Files.readString(KERNEL);
    wrong = right.replace("libdevice.tanh(x)", "(0.5 * libdevice.tanh(x))");
    assertThat(wrong).isNotEqualTo(right);
  }

  private static String fenced(String code) {
    return "Here it is.\n```python\n" + code + "\n```\n";
  }

  /** A wrong kernel first; the right one to who tells that it is wrong. */
  private ScriptedReply learning(Asked asked) {
    String prompt = asked.lastMessage();
    if (prompt.contains("Rate the kernel")) return ScriptedReply.text("{\"correctness\": 3}");
    return ScriptedReply.text(fenced(prompt.contains("0.5 * libdevice") ? right : wrong));
  }

  private Kbx.Result run(String command, Path out, Path models, Object... more) {
    List<Object> arguments = new ArrayList<>(List.of(command));
    arguments.addAll(
        List.of("--models", models, "--out", out, "--device", "cpu", "--seed", "t", "--json"));
    Collections.addAll(arguments, more);
    return Kbx.here(arguments.toArray());
  }

  private Path file(List<String> tables) throws IOException {
    String text = "tasks = \"Activation/tanh\"\n" + String.join("\n", tables);
    return Files.writeString(folder.resolve("run.toml"), text);
  }

  private static String table(String method, String model) {
    return "[[method]]\nmethod = \"%s\"\nname = \"%s by %s\"\nmodel = \"%s\"\n%s\n"
        .formatted(method, method, model, model, METHODS.get(method));
  }

  /** Runs methods, and checks what each came to and how its model was asked. */
  private void assertRuns(List<String> tables) throws IOException {
    try (ScriptedProvider provider = ScriptedProvider.start(this::learning)) {
      Path out = folder.resolve("out");
      Path models = ScriptedModels.write(folder, provider);
      Kbx.Result result = run("run", out, models, file(tables));
      assertThat(result.exit()).as(result.err()).isZero();
      Map<String, String> statuses =
          StreamSupport.stream(result.json().path("verdicts").spliterator(), false)
              .collect(
                  Collectors.toMap(
                      verdict -> verdict.path("method").asString(),
                      verdict -> verdict.path("status").asString(),
                      (one, _) -> one));
      assertThat(statuses).hasSameSizeAs(tables);
      statuses.forEach((method, status) ->
          assertThat(status)
              .as(method)
              .isEqualTo(method.matches("(single|sample|bestof) .*") ? "wrong_values" : "correct"));
      LedgerEvents ledger = LedgerEvents.in(out);
      assertThat(ledger.count("reply")).isEqualTo(provider.requests());
      assertThat(ledger.of("reply"))
          .allSatisfy(
              reply -> assertThat(reply.path("usage").path("output").asInt()).isEqualTo(20));
      for (Asked asked : provider.asked()) {
        assertThat(asked.isAnthropic()).isEqualTo(asked.model().startsWith("anthropic"));
        assertThat(asked.isStream()).isEqualTo(asked.model().endsWith("stream"));
      }
      assertThat(Files.readString(out.resolve("ledger.jsonl"))).doesNotContain(ScriptedModels.KEY);
    }
  }

  private ScriptedReply refining(Asked asked) {
    return ScriptedReply.text(fenced(asked.number() == 1 ? wrong : right));
  }

  /** The example of docs/methods.md. */
  @Test
  void externalProgramRefines() throws Exception {
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
              "anthropic-whole",
              "--models",
              ScriptedModels.write(folder, provider),
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
      JsonNode rates = result.json().path("methods").path(0);
      assertThat(rates.path("method").asString()).isEqualTo("external");
      assertThat(rates.path("development").path("passes").asInt()).isEqualTo(1);
      assertThat(rates.path("final_rate").path("passes").asInt()).isEqualTo(1);
      assertThat(rates.path("gap").path("value").asDouble()).isZero();
      assertThat(provider.requests()).isEqualTo(2);
      assertThat(provider.asked().getLast().body().path("messages")).hasSize(3);
      assertThat(provider.asked().getLast().lastMessage()).contains("Correct it.");
      assertThat(Files.readAllLines(out.resolve("ledger.jsonl")))
          .filteredOn(line -> line.contains("\"event\":\"program\""))
          .hasSize(3);
    }
  }

  @ParameterizedTest
  @CsvSource({"Activation/tanh, 2, 1 of 1", "'Activation/tanh,Activation/relu', 0, 1 of 2"})
  void failingProgramLeavesTheRunIncomplete(String tasks, int exit, String often) throws Exception {
    Path agent = folder.resolve("agent.py");
    Files.writeString(
        agent,
        """
        import json, sys
        task = json.loads(input())["task"]
        if task.endswith("tanh"):
            sys.exit("no GPU here")
        for line in sys.stdin:
            print(json.dumps({"done": {}}), flush=True)
        """);
    Path out = folder.resolve("out");
    Object[] arguments = {
      "generate",
      "--method",
      "external",
      "--program",
      "python3 " + agent,
      "--tasks",
      tasks,
      "--device",
      "cpu",
      "--out",
      out,
      "--seed",
      "t",
      "--json",
    };
    for (Object[] session :
        List.of(arguments, PrecisionTest.with(arguments, new Object[] {"--resume"}))) {
      Kbx.Result result = Kbx.here(session);
      assertThat(result.exit()).as(result.err()).isEqualTo(exit);
      assertThat(result.err())
          .contains(
              "kbx: external: the program failed in %s trajectories, in the last one: ended with status 1: no GPU here; "
                  .formatted(often));
      assertThat(result.json().path("methods")).hasSize(1);
    }
  }

  @Test
  void unstartableProgramIsRefusedBeforeTheRun() {
    for (String[] wrong :
        new String[][] {
          {
            "--program", "no-such-program x", "no-such-program is not a program that can be started"
          },
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

  /** The bundled ledger, as if its correct kernels had this speedup. */
  private Path timed(Path ledger) throws IOException {
    List<String> lines = new ArrayList<>();
    for (String line : Files.readAllLines(ledger)) {
      ObjectNode event = (ObjectNode) Json.mapper().readTree(line);
      if (event.path("judgement").path("status").asString("").equals("correct")) {
        ObjectNode judgement = (ObjectNode) event.get("judgement");
        judgement.putPOJO("speedup", new Verdict.Speedup(1.9, 1.8, 2.0, "eager"));
      }
      lines.add(Json.mapper().writeValueAsString(event));
    }
    return Files.write(folder.resolve("ledger.jsonl"), lines);
  }

  @Test
  void demoReplaysItsLedgerAndJudgesKernels() throws Exception {
    Path demo = Kbx.home().resolve("examples/methods/demo.toml");
    Path _ = timed(demo.resolveSibling("ledger.jsonl"));
    Path file = Files.copy(demo, folder.resolve("demo.toml"));
    Path out = folder.resolve("out");
    Kbx.Result run =
        Kbx.here("run", file, "--tasks", "Loss/mse_loss", "--device", "cpu", "--out", out);
    assertThat(run.exit()).as(run.err()).isZero();
    assertThat(run.out())
        .contains("wrong_values → correct (1.90×) → correct (1.90×)")
        .containsPattern("not\\s+measured\\s+in\\s+this\\s+run\\.")
        .containsPattern("refine .*1 of 1 +1/1 100.0 %.* 1/1 100.0 %.* \\+0 ")
        .containsPattern("sample .*4 of 4 .* 3/4 75.0 %");
    String page = Files.readString(out.resolve("report.html"));
    assertThat(page).contains("correct (1.90×)", "id=\"budget\"");
    assertThat(details(page)).contains("written by hand");

    assertBeginsWith("--from", out);
    assertBeginsWith("--from", newest(out), "--out", out);
    Kbx.Result none = shown("--from", "nowhere", "--out", out);
    assertThat(none.exit()).isEqualTo(1);
    assertThat(none.err())
        .startsWith("kbx: --from nowhere: no such results folder, and no such run");

    Kbx.Result budget = Kbx.here("analyze", "budget", "--out", out, "--json");
    assertThat(budget.exit()).as(budget.err()).isZero();
    JsonNode calls = budget.json().path("runs").path(0).path("curves").path(0);
    assertThat(calls.path("kind").asString()).isEqualTo("calls");
    assertThat(calls.path("points").path(1).path("budget").asDouble()).isEqualTo(2);
    assertThat(calls.path("points").path(1).path("solved").asInt()).isEqualTo(1);
    assertThat(calls.path("points").path(2).path("budget").asDouble()).isEqualTo(3);

    Kbx.Result turns = Kbx.here("analyze", "turns", "--out", out, "--json");
    assertThat(turns.exit()).as(turns.err()).isZero();
    JsonNode analysed = turns.json().path("runs").path(0);
    assertThat(analysed.path("costs").path(0).path("solved").asInt()).isEqualTo(1);
    assertThat(analysed.path("first_correct").path(0).path("median").asInt()).isEqualTo(2);
    assertThat(analysed.path("feedback").findValuesAsString("status").getFirst())
        .as("the second kernel was told, and the third written")
        .isEqualTo("correct");
    assertThat(analysed.path("feedback").path(1).path("next").path(0).path("status").asString())
        .isEqualTo("correct");

    Kbx.Result report = Kbx.here("report", "--out", out, "--format", "json");
    assertThat(report.exit()).as(report.err()).isZero();
    assertThat(report.json().path("turns")).isEqualTo(turns.json().path("runs"));
    Kbx.Result tables = Kbx.here("report", "--out", out, "--format", "md");
    assertThat(tables.out()).contains("## Turns", "Cost of a solved task", "Kaplan and Meier");
    Path paper = out.resolve("paper");
    Kbx.Result latex = Kbx.here("report", "--out", out, "--format", "latex", "--output", paper);
    assertThat(latex.exit()).as(latex.err()).isZero();
    assertThat(Files.readString(paper.resolve("main.tex")))
        .contains("\\section{Turns}", "\\input{tables/turns-to-correct}");
    assertThat(paper.resolve("tables/cost-per-solved.tex")).isNotEmptyFile();
  }

  private static String newest(Path out) throws IOException {
    try (var runs = Files.list(out.resolve("runs"))) {
      return runs.findFirst().orElseThrow().getFileName().toString();
    }
  }

  private static Kbx.Result shown(Object... more) {
    Object[] first = {"generate", "--method", "refine", "--show-prompt", "Loss/mse_loss"};
    return Kbx.here(PrecisionTest.with(first, more));
  }

  private static void assertBeginsWith(Object... more) {
    Kbx.Result result = shown(more);
    assertThat(result.exit()).as(result.err()).isZero();
    assertThat(result.out()).contains("## Kernel to start from", "def mse_loss(");
  }

  /** The details of a page's first candidates, which it holds packed. */
  private static String details(String page) throws IOException {
    Matcher chunk = Pattern.compile("id=\"chunk-0\">([^<]*)<").matcher(page);
    assertThat(chunk.find()).isTrue();
    byte[] packed = Base64.getDecoder().decode(chunk.group(1));
    try (InputStream in = new GZIPInputStream(new ByteArrayInputStream(packed))) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  @Test
  void generateNamesTheReportCommand() throws Exception {
    try (ScriptedProvider provider = ScriptedProvider.start(this::refining)) {
      Kbx.Result result =
          Kbx.here(
              "generate",
              "--method",
              "single",
              "--model",
              "openai-whole",
              "--models",
              ScriptedModels.write(folder, provider),
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

  /** As after a kill in the final judgement: all answers are there, and no verdict is. */
  @Test
  void storedAnswersAreJudgedWithoutNewRequests() throws Exception {
    try (ScriptedProvider provider = ScriptedProvider.start(this::refining)) {
      Path out = folder.resolve("out");
      Path models = ScriptedModels.write(folder, provider);
      Object[] method = {
        "--method", "refine", "--turns", 2, "--model", "openai-whole", "--tasks", "Activation/tanh"
      };
      assertThat(run("generate", out, models, method).exit()).isZero();
      List<Object> again = new ArrayList<>(List.of(method));
      again.add("--resume");
      for (int i = 0; i < 2; i++) {
        Kbx.Result result = run("run", out, models, again.toArray());
        assertThat(result.exit()).as(result.err()).isZero();
        assertThat(result.err()).contains("has all its answers: no model is asked\n");
        assertThat(result.json().path("verdicts").path(0).path("status").asString())
            .isEqualTo("correct");
      }
      assertThat(provider.requests()).isEqualTo(2);
      try (var runs = Files.list(out.resolve("runs"))) {
        assertThat(runs).hasSize(1);
      }
    }
  }

  @Test
  void runWithoutLedgerShowsNoBudget() throws Exception {
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
    assertThat(budget.err()).contains("it is not a run of methods; name one of 'kbx run'");
  }

  @Test
  void everyMethodRunsToItsFinalJudgement() throws Exception {
    List<String> tables = new ArrayList<>();
    for (String method : METHODS.keySet()) {
      tables.add(table(method, ScriptedModels.NAMES.get(tables.size() % 4)));
    }
    assertRuns(tables);
  }

  @Test
  @Tag("soak-only")
  void everyMethodRunsWithEveryFormat() throws Exception {
    List<String> tables = new ArrayList<>();
    for (String method : METHODS.keySet()) {
      for (String model : ScriptedModels.NAMES) tables.add(table(method, model));
    }
    assertRuns(tables);
  }

  @Test
  void replyWithoutKernelIsAnOutcome() throws Exception {
    String prose = "Let me think about tiles. ".repeat(100);
    List<ScriptedReply> replies =
        List.of(
            ScriptedReply.text("I will not do that.").finish("refusal"),
            ScriptedReply.text(""),
            ScriptedReply.text(prose),
            ScriptedReply.text(prose + fenced(right)),
            ScriptedReply.text(fenced(right.substring(0, right.length() / 2))).finish("length"),
            ScriptedReply.error(400, "invalid_request_error", "prompt is too long: 9 > 8 tokens"));
    try (ScriptedProvider provider =
        ScriptedProvider.start(asked -> replies.get((asked.number() - 1) % replies.size()))) {
      Path out = folder.resolve("out");
      Path models = ScriptedModels.write(folder, provider);
      List<Object> options =
          List.of("--method", "sample", "--samples", 6, "--tasks", "Activation/tanh", "--model");
      for (String model : List.of("openai-stream", "anthropic-whole")) {
        List<Object> more = new ArrayList<>(options);
        more.add(model);
        Kbx.Result result = run("run", out.resolve(model), models, more.toArray());
        assertThat(result.exit()).as(result.err()).isZero();
        assertThat(result.json().path("verdicts"))
            .extracting(verdict -> verdict.path("status").asString())
            .as("all are in the denominator")
            .containsExactlyInAnyOrder(
                "no_code", "no_code", "no_code", "no_code", "correct", "syntax_error");
        LedgerEvents ledger = LedgerEvents.in(out.resolve(model));
        assertThat(ledger.of("reply").map(reply -> reply.path("finish").asString()))
            .containsExactlyInAnyOrder("refusal", "stop", "stop", "stop", "length");
        assertThat(ledger.of("no_reply").map(reply -> reply.path("reason").asString()))
            .containsExactly("context_too_long");
      }
    }
  }

  @Test
  void cachedTokensHaveTheCachedPrice() throws Exception {
    var usage = new Usage(1000L, 500L, 800L, null);
    try (ScriptedProvider provider =
        ScriptedProvider.start(_ -> ScriptedReply.text(fenced(right)).usage(usage))) {
      Path models =
          ScriptedModels.write(
              folder,
              provider,
              "price_input = 3.0",
              "price_cached_input = 0.3",
              "price_output = 15.0",
              "price_as_of = 2026-11-25");
      for (String model : ScriptedModels.NAMES) {
        Kbx.Result result =
            run(
                "generate",
                folder.resolve(model),
                models,
                "--method",
                "single",
                "--model",
                model,
                "--tasks",
                "Activation/tanh");
        assertThat(result.exit()).as(result.err()).isZero();
        JsonNode spent = result.json().path("methods").path(0).path("spent");
        assertThat(spent.path("calls").asInt()).isEqualTo(1);
        assertThat(spent.path("tokens").asInt()).isEqualTo(1500);
        // 200 at 3, 800 at 0.3 and 500 at 15 USD a million.
        assertThat(spent.path("usd").asDouble()).as(model).isEqualTo(0.00834);
        assertThat(spent.path("unpriced").asInt()).isZero();
      }
    }
  }
}
