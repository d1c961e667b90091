package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.app.Home;
import dev.kbx.llm.ScriptedProvider;
import dev.kbx.llm.ScriptedProvider.Asked;
import dev.kbx.llm.ScriptedReply;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** {@code --method agent}: real programs in real sandboxes, with a provider over HTTP. */
class AgentMethodTest {
  private static final Path KERNEL = Path.of("tasks/kernelbenchx/Activation/kernels/tanh.py");

  @TempDir private Path folder;
  private String right = "";
  private String wrong = "";

  @BeforeEach
  void read() throws IOException {
    right = Files.readString(KERNEL);
    wrong = right.replace("libdevice.tanh(x)", "(0.5 * libdevice.tanh(x))");
  }

  private ScriptedReply refining(Asked asked) {
    return ScriptedReply.text("```python\n" + (asked.number() == 1 ? wrong : right) + "\n```\n");
  }

  private Kbx.Result run(String program, String model, ScriptedProvider provider, Object... more)
      throws IOException {
    List<Object> arguments =
        new ArrayList<>(
            List.of("run", "--method", "agent", "--program", program, "--model", model));
    arguments.addAll(List.of("--models", ScriptedModels.write(folder, provider)));
    arguments.addAll(List.of("--tasks", "Activation/tanh", "--out", folder.resolve("out")));
    arguments.addAll(List.of("--device", "cpu", "--jobs", 1, "--json"));
    arguments.addAll(List.of(more));
    return Kbx.here(arguments.toArray());
  }

  private String script(String python) throws IOException {
    Path script = folder.resolve("program/agent.py");
    Files.createDirectories(script.getParent());
    Files.writeString(script, python);
    return "python3 " + script;
  }

  @ParameterizedTest
  @ValueSource(strings = {"openai-whole", "anthropic-whole"})
  void agentCorrectsItsKernel(String model) throws Exception {
    try (ScriptedProvider provider = ScriptedProvider.start(this::refining)) {
      Kbx.Result result = run("python3 examples/agents/scripted.py", model, provider);
      assertThat(result.exit()).as(result.err()).isZero();
      JsonNode verdict = result.json().path("verdicts").path(0);
      assertThat(verdict.path("status").asString()).isEqualTo("correct");
      assertThat(verdict.path("method").asString()).isEqualTo("agent");
      assertThat(provider.asked())
          .hasSize(2)
          .allSatisfy(asked ->
              assertThat(asked.headers().toString())
                  .contains(ScriptedModels.KEY)
                  .doesNotContain("kbx-has-the-key"));
      assertThat(provider.asked().getLast().lastMessage()).contains("wrong_values", "Correct it.");
      LedgerEvents ledger = LedgerEvents.in(folder.resolve("out"));
      assertThat(ledger.count("exchange")).isEqualTo(2);
      assertThat(
              ledger.of("exchange").findFirst().orElseThrow().path("usage").path("output").asInt())
          .isPositive();
      assertThat(ledger.count("judgement")).isEqualTo(2);
      JsonNode ended = ledger.of("agent_ended").findFirst().orElseThrow();
      assertThat(ended.path("status").asInt(-1)).isZero();
      assertThat(ended.path("output").asString()).contains("turn 1", "correct");
      assertThat(ended.path("files").path("TASK.md").asString()).contains("kbx-judge");
      assertThat(Files.readString(folder.resolve("out/ledger.jsonl")))
          .doesNotContain(ScriptedModels.KEY);
      Kbx.Result audit = Kbx.here("audit", folder.resolve("out"), "--strict");
      assertThat(audit.exit()).as(audit.out()).isZero();
      assertThat(audit.out()).contains("There is no trace");
    }
  }

  /** What agents are told is no trace; what only the task's file says is one. */
  @Test
  void auditKnowsWhatAttemptsAreTold() throws Exception {
    Path out = folder.resolve("told");
    Kbx.Result told = printing("cat TASK.md", "MatrixMultiply/*", out);
    assertThat(told.exit()).as(told.err()).isZero();
    Kbx.Result clean = Kbx.here("audit", "--out", out, "--strict");
    assertThat(clean.exit()).as(clean.out()).isZero();
    assertThat(clean.out()).contains("10 attempts");
    Path program = Files.createDirectories(folder.resolve("program"));
    Files.copy(
        Path.of("tasks/kernelbenchx/MatrixMultiply/matmul.py"), program.resolve("found.txt"));
    Path leaked = folder.resolve("leaked");
    String shown = "import os\nprint(open(os.path.dirname(__file__) + '/found.txt').read())\n";
    Kbx.Result hidden = printing(script(shown), "MatrixMultiply/matmul", folder.resolve("hidden"));
    assertThat(hidden.err()).contains("FileNotFoundError");
    Kbx.Result leak =
        printing(script(shown), "MatrixMultiply/matmul", leaked, "--program-files", program);
    assertThat(leak.exit()).as(leak.err()).isZero();
    Kbx.Result found = Kbx.here("audit", leaked, "--strict", "--json");
    assertThat(found.exit()).isEqualTo(ExitCode.USAGE);
    assertThat(found.json().path("audit").path("copied").path(0).path("of").asString())
        .isEqualTo("task file");
  }

  private static Kbx.Result printing(String program, String tasks, Path out, Object... more) {
    List<Object> arguments = new ArrayList<>(List.of("generate", "--method", "agent"));
    arguments.addAll(List.of("--program", program, "--tasks", tasks, "--out", out));
    arguments.addAll(List.of("--device", "cpu", "--jobs", 1));
    arguments.addAll(List.of(more));
    return Kbx.here(arguments.toArray());
  }

  /** It cannot be told what happened, so it begins anew with the judgements that are left. */
  @Test
  void interruptedAgentIsStartedAnew() throws Exception {
    String python =
        """
        import subprocess
        with open("TASK.md") as task: print(task.read())
        for text in ("one", "two"):
            with open("solution.py", "w") as file: file.write(f"{text} = 1\\n")
            print(subprocess.run(["kbx-judge"], capture_output=True, text=True).stdout)
        """;
    try (ScriptedProvider provider = ScriptedProvider.start(this::refining)) {
      String program = script(python);
      assertThat(run(program, "openai-whole", provider, "--turns", 3).exit()).isZero();
      Path file;
      try (var runs = Files.list(folder.resolve("out/runs"))) {
        file = runs.findFirst().orElseThrow().resolve("ledger.jsonl");
      }
      List<String> lines = Files.readAllLines(file);
      int first =
          lines.indexOf(
              lines.stream().filter(line -> line.contains("\"judgement\",")).findFirst().get());
      Files.write(file, lines.subList(0, first + 1));
      Kbx.Result resumed = run(program, "openai-whole", provider, "--turns", 3, "--resume");
      assertThat(resumed.exit()).as(resumed.err()).isZero();
      LedgerEvents ledger = LedgerEvents.read(file);
      assertThat(ledger.of("judgement").map(each -> each.path("ask").asString()))
          .containsExactly("turn-0", "turn-1", "turn-2");
      assertThat(ledger.of("selection").findFirst().orElseThrow().path("ask").asString())
          .isEqualTo("turn-2");
      assertThat(ledger.of("agent_ended").findFirst().orElseThrow().path("output").asString())
          .contains("You may use it 2 times", "Judgements left: 0");
    }
  }

  @Test
  void codexGetsItsCommandLine() throws Exception {
    assertGetsItsCommandLine(
        "codex", "codex", "openai-whole", "model_provider=kbx", "OPENAI_API_KEY");
  }

  @ParameterizedTest
  @Tag("soak-only")
  @CsvSource({
    "claude-code, claude, anthropic-whole, --dangerously-skip-permissions, ANTHROPIC_BASE_URL",
    "mini-swe-agent, mini, openai-whole, openai/openai-whole, OPENAI_API_BASE"
  })
  void knownAgentsGetTheirCommandLine(
      String preset, String program, String model, String word, String variable) throws Exception {
    assertGetsItsCommandLine(preset, program, model, word, variable);
  }

  /** A stand-in for the agent, found by its program's name, says what it is given. */
  private void assertGetsItsCommandLine(
      String preset, String program, String model, String word, String variable) throws Exception {
    Path bin = Files.createDirectories(folder.resolve("bin"));
    Path file = bin.resolve(program);
    Files.writeString(
        file,
        """
        #!/bin/sh
        printf '%s|' "$@"
        env
        cp TASK.md solution.py
        """);
    assertThat(file.toFile().setExecutable(true, false)).isTrue();
    try (ScriptedProvider provider = ScriptedProvider.start(this::refining)) {
      Kbx.Result result =
          Kbx.run(
              Kbx.home(),
              Map.of("PATH", bin + ":" + System.getenv("PATH"), "OPENAI_API_KEY", "sk-of-the-user"),
              "generate",
              "--method",
              "agent",
              "--program",
              preset,
              "--model",
              model,
              "--models",
              ScriptedModels.write(folder, provider),
              "--tasks",
              "Activation/tanh",
              "--out",
              folder.resolve("out"),
              "--device",
              "cpu",
              "--jobs",
              1);
      assertThat(result.exit()).as(result.err()).isZero();
      JsonNode ended =
          LedgerEvents.in(folder.resolve("out")).of("agent_ended").findFirst().orElseThrow();
      assertThat(ended.path("output").asString())
          .contains("Read TASK.md", word, variable + "=", "HOME=/tmp/agent/home")
          .doesNotContain("sk-of-the-user");
    }
  }

  @Test
  void agentOfAnotherProviderIsRefused() throws Exception {
    Path bin = Files.createDirectories(folder.resolve("bin"));
    Files.writeString(bin.resolve("claude"), "#!/bin/sh\n");
    assertThat(bin.resolve("claude").toFile().setExecutable(true, false)).isTrue();
    try (ScriptedProvider provider = ScriptedProvider.start(this::refining)) {
      Kbx.Result result =
          Kbx.run(
              Kbx.home(),
              Map.of("PATH", bin + ":" + System.getenv("PATH")),
              "generate",
              "--method",
              "agent",
              "--program",
              "claude-code",
              "--model",
              "openai-whole",
              "--models",
              ScriptedModels.write(folder, provider),
              "--tasks",
              "tanh",
              "--out",
              folder.resolve("none"));
      assertThat(result.exit()).isEqualTo(ExitCode.USAGE);
      assertThat(result.err())
          .endsWith(
              "--program claude-code: asks models of anthropic alone; name one with --model\n");
    }
  }

  @Test
  void fileOfAProgramThatRunsTooLongCounts() throws Exception {
    try (ScriptedProvider provider = ScriptedProvider.start(this::refining)) {
      String program =
          script(
              "import time\nopen('solution.py', 'w').write('''"
                  + right.replace("\\", "\\\\")
                  + "''')\ntime.sleep(600)\n");
      Kbx.Result result = run(program, "openai-whole", provider, "--program-timeout", 3);
      assertThat(result.exit()).as(result.err()).isZero();
      assertThat(result.json().path("verdicts").path(0).path("status").asString())
          .isEqualTo("correct");
      LedgerEvents ledger = LedgerEvents.in(folder.resolve("out"));
      assertThat(ledger.of("agent_ended").findFirst().orElseThrow().path("stopped").asString())
          .isEqualTo("its 3 s are over");
      assertThat(provider.requests()).isZero();
    }
  }

  @Test
  void budgetsHoldForRequestsAndJudgements() throws Exception {
    String python =
        """
        import json, os, subprocess, urllib.error, urllib.request

        for number in range(-3, 4):
            body = json.dumps({"model": "other", "messages": [{"role": "user", "content": str(number)}]}).encode()
            if number < 0: body = b"[]"
            request = urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/chat/completions", body)
            try:
                print(urllib.request.urlopen(request).status)
            except urllib.error.HTTPError as error:
                print(error.code, error.read().decode())
        for number in range(-1, 3):
            open("solution.py", "w").write(f"# {number}\\n" if number >= 0 else "#" * ((1 << 20) + 1))
            done = subprocess.run(["kbx-judge"], capture_output=True, text=True)
            print(done.returncode, done.stdout)
        """;
    try (ScriptedProvider provider = ScriptedProvider.start(this::refining)) {
      Kbx.Result result =
          run(script(python), "openai-whole", provider, "--budget", "calls=2", "--turns", 1);
      assertThat(result.exit()).as(result.err()).isZero();
      assertThat(provider.asked()).extracting(Asked::model).containsOnly("openai-whole").hasSize(2);
      JsonNode ended =
          LedgerEvents.in(folder.resolve("out")).of("agent_ended").findFirst().orElseThrow();
      assertThat(ended.path("output").asString())
          .containsSubsequence(
              "400",
              "200\n200\n",
              "403",
              "the budget is used: 2 calls",
              "2 it has more than 1 MiB",
              "1 no_code",
              "2 all 1 judge");
      assertThat(ended.path("refused").path("provider: no JSON object").asInt()).isEqualTo(3);
      assertThat(LedgerEvents.in(folder.resolve("out")).count("exchange")).isEqualTo(2);
    }
  }

  /**
   * Each is refused: nothing of another attempt, of keys, of kbx or of the network is reachable.
   */
  @Test
  void agentReachesNothingElse() throws Exception {
    Home.here().secret();
    Path home = Kbx.home().toAbsolutePath();
    Path other = folder.resolve("out/runs/20260101T000000-bcdf/ledger.jsonl");
    Files.createDirectories(other.getParent());
    Files.writeString(other, "another attempt\n");
    String python =
        Files.readString(Path.of("java/tests/src/test/resources/agents/intruder.py"))
            .replace("@HOME@", home.toString())
            .replace("@STATE@", Home.here().stateFolders().getFirst().toString())
            .replace("@OUT@", folder.resolve("out").toString())
            .replace("@OTHER@", other.toString())
            .replace("@KEYFILE@", folder.resolve("key").toString())
            .replace("@PID@", Long.toString(ProcessHandle.current().pid()));
    try (ScriptedProvider provider = ScriptedProvider.start(this::refining)) {
      python = python.replace("@PROVIDER@", provider.address());
      Kbx.Result result = run(script(python), "openai-whole", provider);
      assertThat(result.exit()).as(result.err()).isZero();
      JsonNode ended =
          LedgerEvents.read(folder.resolve("out/ledger.jsonl"))
              .of("agent_ended")
              .findFirst()
              .orElseThrow();
      List<String> tries = ended.path("output").asString().lines().toList();
      assertThat(tries).as(ended.path("output").asString()).hasSizeGreaterThan(30);
      assertThat(tries).allMatch(line -> line.startsWith("refused ") || line.equals("tried all"));
      assertThat(tries).contains("tried all");
      assertThat(provider.requests()).isZero();
      assertOutsideIsReached(python);
      assertThat(ended.path("refused").propertyNames())
          .anyMatch(what -> what.contains("CONNECT example.com:443"))
          .anyMatch(what -> what.contains("host api.example.com"))
          .contains("network: 1.1.1.1 port 443", "system call: ptrace", "system call: mount");
      assertAuditSaysSo();
    }
  }

  /** What is refused is there: without the sandbox the same tries succeed. */
  private void assertOutsideIsReached(String python) throws Exception {
    List<String> names =
        List.of(
            "another attempt's ledger",
            "results",
            "store",
            "secret of seeds",
            "state",
            "task file",
            "all tasks",
            "bundled kernel",
            "oracle",
            "kbx's own files",
            "key file",
            "environment of kbx",
            "processes",
            "link");
    Path script = Files.writeString(folder.resolve("outside.py"), python);
    List<String> words = new ArrayList<>(List.of("python3", script.toString()));
    words.addAll(names);
    Path said = folder.resolve("said");
    Process process =
        new ProcessBuilder(words)
            .directory(Files.createDirectories(folder.resolve("outside")).toFile())
            .redirectErrorStream(true)
            .redirectOutput(said.toFile())
            .start();
    assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
    assertThat(Files.readAllLines(said))
        .extracting(line -> line.split(":", -1)[0])
        .containsExactlyElementsOf(
            Stream.concat(names.stream().map("REACHED "::concat), Stream.of("tried all")).toList());
  }

  private void assertAuditSaysSo() {
    Path out = folder.resolve("out");
    Kbx.Result audit = Kbx.here("audit", "--out", out);
    assertThat(audit.exit()).isZero();
    assertThat(audit.out())
        .contains("There are traces", "CONNECT example.com:443", "1.1.1.1", ".kbx/secret");
    Kbx.Result json = Kbx.here("audit", "--out", out, "--strict", "--json");
    assertThat(json.exit()).isEqualTo(ExitCode.USAGE);
    JsonNode found = json.json().path("audit");
    assertThat(found.path("refused").size()).isGreaterThan(8);
    assertThat(found.path("named").findValuesAsString("name"))
        .anyMatch(name -> name.endsWith("/.kbx/secret"))
        .anyMatch(name -> name.endsWith("/out/kbx.db"))
        .contains("20260101T000000-bcdf");
    assertThat(found.path("alike")).isEmpty();
  }
}
