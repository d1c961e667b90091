package dev.kbx.cli;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kbx.Patience;
import dev.kbx.app.FolderLock;
import dev.kbx.app.Home;
import dev.kbx.document.Counted;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import tools.jackson.databind.JsonNode;

/** Commands other than a plain {@code eval}, as a user runs them. */
class CommandsTest {
  private static final Path GELU = Kbx.home().resolve("corpus/honest/plain/gelu.py");

  @TempDir private Path folder;

  private Kbx.Result ok(Object... arguments) throws Exception {
    return ok(Kbx.run(folder, arguments));
  }

  private static Kbx.Result here(Object... arguments) {
    return ok(Kbx.here(arguments));
  }

  private static Kbx.Result ok(Kbx.Result result) {
    assertThat(result.exit()).as(result.err()).isZero();
    return result;
  }

  /** What came of the file, not 1 of 176; of a folder it is a share of the suite. */
  @Test
  void namedFileIsNotCountedAgainstTheSuite() throws Exception {
    Path out = folder.resolve("out");
    Kbx.Result file = here("eval", GELU, "--stages", "static", "--out", out);
    assertThat(file.out())
        .contains("1 of 1 passed the stages asked for.\n", "report: " + out.resolve("report.html"))
        .doesNotContain(" 176 ", "/176", "%");
    String run =
        Kbx.here("runs", "list", "--out", out, "--json").json().get(0).get("id").asString();
    assertThat(here("runs", "show", run, "--out", out).out())
        .contains("1 of 1 passed the stages asked for.\n");
    assertThat(Files.readString(out.resolve("report.html")))
        .contains("<h1>1 of 1 passed the stages asked for</h1>")
        .doesNotContain("176 tasks", "of 176");
    assertThat(Files.readString(out.resolve("summary.json"))).contains("\"tasks_in_suite\" : 176");
    Kbx.Result suite =
        here("eval", requireNonNull(GELU.getParent()), "--stages", "static", "--out", out);
    assertThat(suite.out()).contains("of 176 tasks of kernelbenchx have a candidate");
  }

  @Test
  void helpOfEveryCommandFitsATerminal() throws Exception {
    for (String command :
        List.of(
            "eval", "check", "tasks", "runs", "compare", "analyze", "models", "doctor", "bench",
            "package")) {
      String help = here("help", command).out();
      assertThat(help).as(command).contains("Usage: kbx " + command);
      assertThat(help.lines()).as(command).allMatch(line -> line.length() <= 100);
    }
    assertThat(here("--help").out())
        .contains("eval", "tasks", "runs", "doctor", "Exit codes")
        .isEqualTo(here("help").out());
  }

  @Test
  void noFooterIsWrappedByTheTerminal() throws Exception {
    int footers = 0;
    for (String room :
        List.of("kbx/target/classes/dev/kbx/cli", "bench/target/classes/dev/kbx/bench")) {
      for (Path file : list(Path.of("java", room))) {
        String name = file.getFileName().toString().replace(".class", "");
        String whole = "dev.kbx.%s.%s".formatted(room.substring(room.lastIndexOf('/') + 1), name);
        var command = Class.forName(whole).getAnnotation(CommandLine.Command.class);
        if (command == null || command.footer().length == 0) continue;
        footers++;
        assertThat(command.footer()).as(name).allMatch(line -> line.length() <= 78);
      }
    }
    assertThat(footers).isGreaterThan(20);
  }

  private static List<Path> list(Path folder) throws Exception {
    try (var files = Files.list(folder)) {
      return files.filter(file -> file.toString().endsWith(".class")).toList();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"-V", "eval -V", "tasks list --version", "bench -V"})
  void everyCommandKnowsTheVersion(String command) {
    assertThat(here((Object[]) command.split(" ")).out()).isEqualTo("kbx " + Home.version() + "\n");
  }

  @ParameterizedTest
  @ValueSource(strings = {"bogus --help", "bogus -V", "tasks bogus --help", "runs bogus -h"})
  void unknownCommandHasNoHelp(String command) {
    Kbx.Result result = Kbx.here((Object[]) command.split(" "));
    assertThat(result.exit()).isEqualTo(ExitCode.USAGE);
    assertThat(result.out()).isEmpty();
    assertThat(result.err()).contains("bogus");
  }

  @Test
  void taskListHasTheFieldsThatScriptsNeed() throws Exception {
    assertThat(here("tasks", "list").out()).as("no terminal to cut it for").doesNotContain("…");
    JsonNode tasks = here("tasks", "list", "--json").json();
    assertThat(tasks.size()).isGreaterThanOrEqualTo(20);
    Set<String> categories = new HashSet<>();
    for (JsonNode task : tasks) {
      assertThat(task.propertyNames()).contains("name", "suite", "category", "signature", "extra");
      categories.add(task.get("category").asString());
    }
    assertThat(categories).hasSize(15);
    JsonNode reduce = here("tasks", "list", "--category", "reduce", "--json").json();
    assertThat(new HashSet<>(reduce.findValuesAsString("category"))).containsExactly("Reduce");
    assertThat(Kbx.here("tasks", "list", "--category", "Redoce").err())
        .contains("--category Redoce: no such category; there are Activation, ");
    assertThat(here("tasks", "show", "gelu").out()).contains("kernel_function", "approximate");
  }

  @Test
  void promptHasStatementSignatureAndRules() throws Exception {
    assertThat(here("tasks", "show", "matmul_w8a8", "--prompt").out())
        .contains(
            "clamp(round(",
            "def matmul_w8a8(input: torch.Tensor",
            "def _quantize(",
            "import torch\n")
        .doesNotContain("negative_", "def inputs(", "kbx.suite");
    assertThat(Kbx.here("tasks", "show", "gelu", "--prompt", "--json").exit()).isEqualTo(1);
  }

  @Test
  void promptAsksForThePublishedGradeByDefault() throws Exception {
    String decides = "`approximate`: `'none'` or `'tanh'`, or left out";
    assertThat(here("tasks", "show", "gelu", "--prompt").out()).contains(decides);
    assertThat(here("tasks", "show", "gelu", "--prompt", "--grade", "general").out())
        .contains("need not be contiguous")
        .doesNotContain(decides);
    assertThat(Kbx.here("tasks", "show", "gelu", "--prompt", "--grade", "all").err())
        .contains("--grade: 'all' is not one of published,general");
    assertThat(Kbx.here("tasks", "show", "gelu", "--grade", "general").err())
        .contains("--grade general: is about the prompt; add --prompt");
  }

  @Test
  void runsAreListedShownAndDeleted() throws Exception {
    Path out = folder.resolve("kbx-out");
    String first = here("eval", GELU, "--stages", "static", "--out", out).err();
    assertThat(first).doesNotContain("from memory");
    String second = here("eval", GELU, "--stages", "static", "--out", out).err();
    assertThat(second).contains("kbx: 1 of 1 verdict from memory");
    JsonNode runs = ok("runs", "list", "--json").json();
    assertThat(runs.size()).isEqualTo(2);
    String newest = runs.get(0).get("id").asString();
    assertThat(here("runs", "list", "--out", out).out())
        .contains(newest, "complete", "1/1", "kernelbenchx");
    JsonNode shown = here("runs", "show", newest, "--json", "--out", out).json();
    assertThat(shown.get("verdicts").size()).isEqualTo(1);
    here("eval", GELU, "--stages", "static", "--resume", "--out", out);
    assertThat(here("runs", "list", "--json", "--out", out).json())
        .as("complete runs stay")
        .isEqualTo(runs);
    try (var _ = FolderLock.of(out)) {
      Kbx.Result refused = Kbx.run(folder, "runs", "delete", newest, "--out", out);
      assertThat(refused.exit()).isEqualTo(1);
      assertThat(refused.err()).contains("another kbx is writing there");
      Kbx.Result copy = Kbx.run(folder, "runs", "copy", out, out);
      assertThat(copy.err()).contains("kbx: " + out + ": another kbx").doesNotContain("--out");
    }
    assertThat(here("runs", "delete", newest, newest, "--out", out).err())
        .contains("deleted 1 run\n");
    assertThat(here("runs", "list", "--out", out).out()).doesNotContain(newest);
    assertThat(Kbx.here("runs", "show", newest, "--out", out).exit()).isEqualTo(1);
  }

  @Test
  void numbersAreWrittenAlikeInEveryLocale() {
    Locale before = Locale.getDefault();
    try {
      Locale.setDefault(Locale.GERMANY);
      assertThat(Counted.of(1_234, "run")).isEqualTo("1,234 runs");
      assertThat(Kbx.here("help").exit()).isZero();
      assertThat("%,.1f".formatted(1_234.5)).isEqualTo("1,234.5");
    } finally {
      Locale.setDefault(before);
    }
  }

  @Test
  void jsonOutputIsOneDocument() throws Exception {
    JsonNode document = ok("eval", GELU, "--stages", "static", "--json").json();
    assertThat(document.get("verdicts").get(0).get("status").asString()).isEqualTo("correct");
    assertThat(document.get("run").get("stages").get(0).asString()).isEqualTo("static");
  }

  @ParameterizedTest
  @ValueSource(strings = {"tasks list --json", "check --rules"})
  void unwritableOutputFailsTheCommand(String command) throws Exception {
    Path err = folder.resolve("err");
    Process full =
        Kbx.start(folder, Map.of(), Path.of("/dev/full"), err, (Object[]) command.split(" "));
    assertThat(full.waitFor()).isEqualTo(ExitCode.INCOMPLETE);
    assertThat(Files.readString(err))
        .isEqualTo("kbx: cannot write to stdout: No space left on device\n");
  }

  @Test
  void closedPipeIsNotAFailure() throws Exception {
    Path pipe = folder.resolve("pipe");
    assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor()).isZero();
    Process reader = new ProcessBuilder("sh", "-c", ": < " + pipe).start();
    Path err = folder.resolve("err");
    Process cut = Kbx.start(folder, Map.of(), pipe, err, "tasks", "list");
    assertThat(reader.waitFor()).isZero();
    assertThat(cut.waitFor()).isZero();
    assertThat(Files.readString(err)).isEmpty();
  }

  @Test
  void doctorTestsProtectionsAndNamesTheCudaCompiler() throws Exception {
    Path cuda = folder.resolve("cuda");
    Path tools = Files.createDirectories(cuda.resolve("bin"));
    Map<String, String> without =
        Map.of("CUDA_HOME", "/nowhere", "PATH", tools + ":" + System.getenv("PATH"));
    program(tools.resolve("c++"), "echo 12.2.0");
    Kbx.Result absent = Kbx.run(folder, without, "doctor", "--device", "cpu");
    assertThat(absent.exit()).as(absent.err()).isZero();
    assertThat(absent.out().lines().map(String::strip))
        .contains("cxx 12.2.0", "nvcc absent: inline CUDA C++ cannot be compiled")
        .anyMatch(line -> line.startsWith("tilelang absent: no kernels in TileLang; "))
        .anyMatch(line -> line.endsWith(" -m pip install nvidia-cutlass-dsl"));
    program(tools.resolve("nvcc"), "echo 'Cuda compilation tools, release 13.0, V13.0.88'");
    Map<String, String> with = new HashMap<>(without);
    with.put("CUDA_HOME", cuda.toString());
    JsonNode found = ok(Kbx.run(folder, with, "doctor", "--device", "cpu", "--json")).json();
    assertThat(found.at("/versions/nvcc").asString()).isEqualTo("13.0.88");
    assertThat(found.at("/versions/cxx").asString()).isEqualTo("12.2.0");
    List<String> names = new ArrayList<>();
    found.at("/devices/0/protections").forEach(p -> names.add(p.get("name").asString()));
    assertThat(names).contains("user", "network", "processes", "files", "seccomp", "memory");
  }

  private static void program(Path file, String line) throws IOException {
    Files.writeString(file, "#!/bin/sh\n" + line + "\n");
    assertThat(file.toFile().setExecutable(true)).isTrue();
  }

  @Test
  void interruptNamesResumeAndLeavesNoProcessOrFile() throws Exception {
    Path err = folder.resolve("err");
    Process process =
        Kbx.start(
            folder,
            Map.of(),
            folder.resolve("out"),
            err,
            "eval",
            Kbx.home().resolve("corpus/failing/no_entry"),
            Kbx.home().resolve("corpus/failing/timeout"),
            "--device",
            "cpu",
            "--jobs",
            2, // with one, the candidate that waits may be the first
            "--timeout",
            Patience.SECONDS);
    await().atMost(Patience.LIMIT).until(() -> Files.readString(err).contains("[1/"));
    List<ProcessHandle> workers = process.descendants().toList();
    assertThat(workers).isNotEmpty();
    Path results = folder.resolve("kbx-out");
    Kbx.Result second = Kbx.here("eval", GELU, "--stages", "static", "--out", results);
    assertThat(second.exit()).isEqualTo(1);
    assertThat(second.err()).contains("another kbx is writing");
    assertThat(here("runs", "list", "--out", results).out()).contains("in progress");
    process.destroy(); // SIGTERM; Ctrl-C goes the same way
    assertThat(process.waitFor(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
    assertThat(process.exitValue()).isEqualTo(2);
    assertThat(Files.readString(err)).contains("--resume");
    await()
        .atMost(Patience.LIMIT)
        .until(() -> workers.stream().noneMatch(KillAndResumeTest::running));
    assertThat(here("runs", "list", "--out", results).out()).contains("cut off");
  }
}
