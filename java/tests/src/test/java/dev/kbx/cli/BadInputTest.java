package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.kbx.SimulatedRun;
import dev.kbx.app.JudgingSettings;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Bad input gets one clear line and exit code 1; what can be judged is judged. */
class BadInputTest {
  private static final String GOOD =
      """
      {"file": "Activation/gelu.py", "predict": "def gelu(input, approximate='none'):\\n    return input"}
      """;

  @TempDir private Path folder;

  /** Judges a source as far as no Python is needed. */
  private Kbx.Result eval(Object source, Object... more) {
    return Kbx.here(arguments(source, more));
  }

  private Object[] arguments(Object source, Object... more) {
    Object[] arguments = new Object[more.length + 6];
    Object[] common = {"eval", source, "--stages", "static", "--out", folder.resolve("out")};
    System.arraycopy(common, 0, arguments, 0, common.length);
    System.arraycopy(more, 0, arguments, common.length, more.length);
    return arguments;
  }

  private Path file(String name, String content) throws IOException {
    return Files.writeString(folder.resolve(name), content);
  }

  private static void refused(Kbx.Result result, String... words) {
    assertThat(result.exit()).as(result.err()).isEqualTo(1);
    assertThat(result.err()).contains(words).doesNotContain("\tat ");
    assertThat(result.out()).isEmpty();
  }

  @Test
  void missingPath() throws Exception {
    refused(eval("nowhere.jsonl"), "nowhere.jsonl");
  }

  @Test
  void missingPathIsRefusedBeforeJudging() throws Exception {
    Path good = file("p.jsonl", GOOD);
    refusedInOneLine(eval(good, "nowhere.py"), "nowhere.py: does not exist");
    refused(eval(good, "nowhere.py", "gone.py"), "nowhere.py", "gone.py", "2 of the sources");
    assertThat(folder.resolve("out")).doesNotExist();
  }

  @Test
  void strictRefusesAFileWithAnUnusableLine() throws Exception {
    Path file = file("p.jsonl", GOOD + "{\"file\": \n");
    refused(
        eval(file, "--strict"), "p.jsonl:2: is no JSON", "--strict: nothing was judged: 1 problem");
    assertThat(folder.resolve("out")).doesNotExist();
  }

  @Test
  void unusableListenAddress() throws Exception {
    Path out = folder.resolve("out");
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      int port = taken.getLocalPort();
      refusedInOneLine(
          Kbx.here("serve", "--port", port, "--out", out),
          "--host 127.0.0.1 --port %d: cannot listen there: Address already in use"
              .formatted(port));
    }
    refusedInOneLine(
        Kbx.here("serve", "--host", "nowhere.invalid", "--out", out),
        "--host nowhere.invalid: no such address");
    assertThat(out).doesNotExist();
  }

  /** Candidates name their suite; of two of one name the first was served to nobody. */
  @Test
  void twoServedSuitesOfOneName() {
    Path out = folder.resolve("out");
    refusedInOneLine(
        Kbx.here("serve", "--suite", "serving,kernelbenchx,serving", "--out", out),
        "--suite: two suites are named serving");
    assertThat(out).doesNotExist();
  }

  @Test
  void unreachableCluster() throws Exception {
    Object[] judge = {"eval", file("p.jsonl", GOOD), "--out", folder.resolve("out"), "--cluster"};
    for (String scheme : List.of("", "ray://")) {
      String nowhere = scheme + "nowhere.invalid:6379";
      refused(
          Kbx.here(PrecisionTest.with(judge, nowhere)),
          "--cluster " + nowhere + ": no host of that name");
      String closed = scheme + "127.0.0.1:1";
      refused(
          Kbx.here(PrecisionTest.with(judge, closed)),
          "--cluster " + closed + ": nothing answers there");
    }
  }

  @Test
  void candidatesWithoutAMethodAreNotExported() throws Exception {
    Path out = folder.resolve("out");
    assertThat(eval(file("p.jsonl", GOOD)).exit()).isZero();
    refusedInOneLine(
        Kbx.here("export", "predictions", folder.resolve("x"), "--out", out),
        "export: no run in %s was written by methods; the formats kernelbench and training are"
            .formatted(out));
  }

  @Test
  void namedPipeIsRefusedAtOnce() throws Exception {
    for (String name : List.of("relu.py", "p.jsonl")) {
      Path pipe = folder.resolve(name);
      assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor()).isZero();
      refusedInOneLine(eval(pipe), pipe + ": is not a regular file; give a task.py");
      refusedInOneLine(Kbx.here("check", pipe), pipe + ": is not a regular file; give a task.py");
    }
  }

  @Test
  void wrongSourcesLeaveNothingBehind() throws Exception {
    refused(eval("nowhere.py"), "nowhere.py");
    refused(eval(file("empty.jsonl", "")), "empty.jsonl");
    refused(Kbx.here("eval", "--resume", "--out", folder.resolve("out")), "to resume");
    assertThat(folder.resolve("out")).doesNotExist();
  }

  @Test
  void noSource() throws Exception {
    refused(Kbx.here("eval"), "SOURCE");
  }

  @Test
  void emptyFile() throws Exception {
    refused(eval(file("empty.jsonl", "")), "empty.jsonl", "empty");
  }

  @Test
  void folderWithoutCandidates() throws Exception {
    refused(eval(Files.createDirectory(folder.resolve("nothing"))), "nothing");
  }

  @Test
  void unknownTask() throws Exception {
    Kbx.Result result =
        eval(file("p.jsonl", GOOD + "{\"file\": \"Activation/gelo.py\", \"predict\": \"x\"}\n"));
    assertThat(result.exit()).isZero();
    assertThat(result.err()).contains("p.jsonl:2", "gelo", "gelu");
    assertThat(Files.readAllLines(folder.resolve("out/results.jsonl"))).hasSize(1);
  }

  @Test
  void skippedSourcesAreRepeatedAtTheEnd() throws Exception {
    Path kernels = Files.createDirectory(folder.resolve("kernels"));
    Files.writeString(kernels.resolve("gelu.py"), "def gelu(input): return input\n");
    Files.write(kernels.resolve("tanh.py"), new byte[] {(byte) 0xff});
    Path out = folder.resolve("out");
    Kbx.Result judged = eval(kernels);
    assertThat(judged.exit()).as("a file could not be read").isEqualTo(1);
    assertThat(Files.readAllLines(out.resolve("results.jsonl"))).hasSize(1);
    assertThat(judged.err())
        .endsWith(
            "kbx: 1 problem with the sources (named above, all in " + out + "/summary.json)\n");
    assertThat(Files.readString(out.resolve("summary.json"))).contains("tanh.py:1: is not UTF-8");
    for (int i = 0; i < 30; i++) Files.writeString(kernels.resolve("nosuch%d.py".formatted(i)), "");
    assertThat(eval(kernels).err())
        .contains("31 problems with the sources (the first 20 are named above, all in ");
    Files.delete(kernels.resolve("tanh.py"));
    assertThat(eval(kernels.resolve("gelu.py")).err()).doesNotContain("problem");
  }

  @Test
  void tasksWithoutACandidate() throws Exception {
    Path file = file("gelu.py", "x = 1\n");
    refusedInOneLine(
        eval(file, "--tasks", "tanh"),
        "--tasks tanh: leaves out all that is in %s, 1 candidate; select their tasks"
            .formatted(file));
  }

  @Test
  void folderOfUnreadableFilesIsNotCalledEmpty() throws Exception {
    Path broken = Files.createDirectory(folder.resolve("broken"));
    Path link = Files.createSymbolicLink(broken.resolve("gelu.py"), folder.resolve("gone"));
    refusedInOneLine(alone(broken), link + ": is a link to nothing; mend or remove it");
  }

  @Test
  void invalidUtf8InOneLine() throws Exception {
    Path file = folder.resolve("p.jsonl");
    Files.write(file, GOOD.getBytes(StandardCharsets.UTF_8));
    Files.write(
        file,
        new byte[] {'{', '"', (byte) 0xff, (byte) 0xfe, '"', '}', '\n'},
        java.nio.file.StandardOpenOption.APPEND);
    Kbx.Result result = eval(file);
    assertThat(result.exit()).isZero();
    assertThat(result.err()).contains("p.jsonl:2", "UTF-8");
  }

  @Test
  void aPredictionOfFiftyMegabytes() throws Exception {
    String huge =
        "{\"file\": \"Activation/gelu.py\", \"predict\": \"" + "x".repeat(50 << 20) + "\"}\n";
    // A process of its own: its heap is no larger than a user's.
    Kbx.Result result = Kbx.run(folder, arguments(file("p.jsonl", huge + GOOD)));
    assertThat(result.exit()).as(result.err()).isZero();
    assertThat(result.err()).contains("p.jsonl:1", "MiB");
    assertThat(Files.readAllLines(folder.resolve("out/results.jsonl"))).hasSize(1);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "eval GOOD --python nowhere/python",
        "eval GOOD --python FOLDER",
        "eval GOOD --store nowhere",
        "bench cheats --output nowhere/page.md",
        "bench cheats --python nowhere/python",
        "bench referee --python nowhere/python",
        "bench throughput --python nowhere/python",
        "tasks verify gelu --python nowhere/python",
      })
  void wrongPathIsRefusedBeforeFoldersAreMade(String command) throws Exception {
    Path good = file("p.jsonl", GOOD);
    Path out = folder.resolve("out");
    String[] words = command.split(" ", -1);
    List<Object> arguments = new ArrayList<>();
    for (String word : words) {
      arguments.add(word.equals("GOOD") ? good : word.equals("FOLDER") ? folder : word);
    }
    if (!command.contains("throughput")) arguments.addAll(List.of("--out", out));
    Kbx.Result result = Kbx.here(arguments.toArray());
    refused(result, words[words.length - 2], words[words.length - 1].replace("FOLDER", "a folder"));
    assertThat(result.err().lines()).hasSize(1);
    assertThat(out).doesNotExist();
  }

  @Test
  void resumeLooksInTheGivenFolder() {
    Path out = folder.resolve("out");
    refusedInOneLine(
        Kbx.here("eval", "--resume", "--out", out),
        "--resume: no run in " + out.resolve("kbx.db") + " to resume");
    assertThat(out).doesNotExist();
  }

  @ParameterizedTest
  @CsvSource({
    "taken, is a file",
    "taken/below, FOLDER/taken is a file",
    "dangling, is a link to nothing",
    "dangling/below, FOLDER/dangling is a link to nothing",
  })
  void outThatIsNotAFolder(String out, String why) throws Exception {
    var _ = file("taken", "x");
    Path link = Files.createSymbolicLink(folder.resolve("dangling"), folder.resolve("gone"));
    Path given = folder.resolve("given");
    SimulatedRun.on(SimulatedRun.H200, 1).store(given);
    Path named = folder.resolve(out);
    for (Object[] command :
        new Object[][] {
          {"eval", file("p.jsonl", GOOD), "--stages", "static"},
          {
            "tasks",
            "import",
            "kernelbench",
            Kbx.home().resolve("java/tests/src/test/resources/original-kernelbench")
          },
          {"runs", "merge", given}
        }) {
      Object[] arguments = Arrays.copyOf(command, command.length + 2);
      String option = command[1].equals("import") ? "--output" : "--out";
      arguments[command.length] = option;
      arguments[command.length + 1] = named;
      refusedInOneLine(
          Kbx.here(arguments),
          "%s %s: %s; name a folder"
              .formatted(option, named, why.replace("FOLDER", folder.toString())));
    }
    assertThat(Files.isSymbolicLink(link)).isTrue();
    assertThat(folder.resolve("gone")).doesNotExist();
  }

  @ParameterizedTest
  @CsvSource({
    "taken, a file",
    "dangling, a link to nothing",
    "gone, no such folder",
    "empty, no kbx.db",
  })
  void aFolderWithoutRuns(String out, String why) throws Exception {
    var _ = file("taken", "x");
    var _ = Files.createSymbolicLink(folder.resolve("dangling"), folder.resolve("gone"));
    var _ = Files.createDirectory(folder.resolve("empty"));
    Path named = folder.resolve(out);
    String line =
        "%s: no runs there (%s); name the folder of an earlier --out".formatted(named, why);
    refusedInOneLine(Kbx.here("runs", "list", "--out", named), line);
    refusedInOneLine(Kbx.here("runs", "copy", named, folder.resolve("new")), line);
    refusedInOneLine(Kbx.here("runs", "merge", named, "--out", folder.resolve("new")), line);
    refusedInOneLine(Kbx.here("export", "kernelbench", "x", "--out", named), line);
    assertThat(folder.resolve("new")).doesNotExist();
  }

  @Test
  void outCannotBeWritten() throws Exception {
    refused(
        Kbx.here("eval", file("p.jsonl", GOOD), "--stages", "static", "--out", "/proc/kbx"),
        "--out /proc/kbx");
  }

  @Test
  void pythonWithoutTorch() throws Exception {
    Kbx.Result result =
        Kbx.run(
            folder,
            Map.of("KBX_PYTHON", "/usr/bin/python3"),
            "eval",
            file("p.jsonl", GOOD),
            "--out",
            folder.resolve("out"));
    refused(result, "/usr/bin/python3", "torch");
  }

  @ParameterizedTest
  @CsvSource({
    "--stages,warp,warp",
    "--baseline,fastest,fastest",
    "--device,tpu,tpu",
    "--device,cuda:x,cuda:x",
    "--arch,sm_1,sm_90",
    "--suite,nosuch,nosuch",
    "--tasks,nosuch,nosuch",
    "--timeout,0,--timeout",
    "--jobs,many,--jobs many: is not a whole number",
    "--jobs,0,--jobs 0: at least 1",
    "--jobs,-1,--jobs -1: at least 1",
    "--seed,'',--seed: is empty",
    "--seed,' ',--seed: is empty",
    "--python,'',--python: is empty",
    "--nosuch,x,--nosuch"
  })
  void badOptions(String option, String value, String word) throws Exception {
    refused(
        Kbx.here("eval", file("p.jsonl", GOOD), option, value, "--out", folder.resolve("out")),
        word);
  }

  /** Refused before anything is read, in one line. */
  private static void refusedInOneLine(Kbx.Result result, String line) {
    refused(result, line);
    assertThat(result.err().lines()).hasSize(1);
    assertThat(result.err()).startsWith("kbx: " + line);
  }

  /** In a process of its own: in this one, opening a store may log. */
  private Kbx.Result alone(Path source) throws Exception {
    return Kbx.run(folder, arguments(source));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "eval .",
        "tasks verify",
        "bench cheats",
      })
  void anEmptySeed(String command) throws Exception {
    Object[] arguments = (command + " --seed=").split(" ");
    refusedInOneLine(Kbx.here(arguments), "--seed: is empty; give a text");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "eval .",
        "tasks verify",
        "tasks import kernelbench .",
        "runs list",
        "runs merge .",
        "compare a b",
        "export kernelbench x",
        "bench cheats",
        "bench noise",
        "bench referee",
        "package",
      })
  void anEmptyOut(String command) throws Exception {
    Object[] arguments = (command + " --out=").split(" ");
    refusedInOneLine(Kbx.here(arguments), "--out: is empty; name a file or folder");
  }

  @Test
  void emptyPaths() throws Exception {
    refusedInOneLine(Kbx.here("eval", ""), "SOURCE: is empty; name");
    refusedInOneLine(Kbx.here("bench", "throughput", ""), "SOURCE: is empty; name");
    refusedInOneLine(Kbx.here("check", ""), "FILE: is empty; name");
    refusedInOneLine(Kbx.here("bench", "cheats", ""), "PATH: is empty; name");
    refusedInOneLine(Kbx.here("tasks", "import", "kernelbench", ""), "DIR: is empty; name");
    refusedInOneLine(Kbx.here("runs", "merge", "", "--out", "x"), "DIR: is empty; name");
    refusedInOneLine(Kbx.here("export", "kernelbench", ""), "DIR: is empty; name");
    refusedInOneLine(Kbx.here("compare", "", ""), "RUN: is empty; name");
    refusedInOneLine(Kbx.here("analyze", "passk", ""), "RUN: is empty; name");
  }

  @Test
  void aTaskOfAnotherSuite() throws Exception {
    String hint = "it is one of suite kernelbench: give --suite kernelbench";
    refusedInOneLine(
        Kbx.here("tasks", "show", "19_ReLU"), "no task '19_ReLU' in suite kernelbenchx; " + hint);
    Path file = file("19_ReLU.py", "x = 1\n");
    refusedInOneLine(alone(file), file + ": no task '19_ReLU' in suite kernelbenchx; " + hint);
    refusedInOneLine(
        eval(file, "--tasks", "level1/*"), "no task 'level1/*' in suite kernelbenchx; " + hint);
    Path honest = Kbx.home().resolve("corpus/kernelbench/honest");
    refusedInOneLine(
        alone(honest), honest + ": is for the suite kernelbench, and this run judges kernelbenchx");
  }

  @Test
  void categoryWithoutWildcard() throws Exception {
    refusedInOneLine(
        Kbx.here("tasks", "show", "Math"),
        "no task 'Math' in suite kernelbenchx; did you mean Math/*?");
  }

  @Test
  void severalTasksAsOneDocument() throws Exception {
    refused(
        Kbx.here("tasks", "show", "Activation/*elu", "--json"),
        "Activation/*elu: means",
        "Activation/gelu, Activation/",
        "with --json name one");
    assertThat(Kbx.here("tasks", "show", "Activation/*elu").out()).contains("gelu", "relu");
  }

  @Test
  void controlCharactersInNamesAreEscaped() throws Exception {
    Path named = Files.createDirectories(folder.resolve("\u001b[2Jgone"));
    Path file =
        Files.copy(Kbx.home().resolve("corpus/honest/plain/gelu.py"), named.resolve("gelu.py"));
    Kbx.Result result =
        Kbx.here("eval", file, "--stages", "static", "--out", folder.resolve("out"));
    assertThat(result.exit()).as(result.err()).isZero();
    assertThat(result.err()).contains("[1/1] correct  Activation/gelu", "[2Jgone/gelu.py");
    assertThat(result.err() + result.out()).doesNotContain("\u001b");
  }

  @Test
  void missingParameters() {
    String help = "; 'kbx compare --help' explains it";
    refusedInOneLine(Kbx.here("compare"), "'kbx compare' needs at least 2 × RUN" + help);
    refusedInOneLine(Kbx.here("compare", "a"), "'kbx compare' needs at least 2 × RUN" + help);
    refusedInOneLine(Kbx.here("runs", "copy"), "'kbx runs copy' needs FROM and TO;");
  }

  @Test
  void folderThatIsNotASuite() throws Exception {
    refusedInOneLine(
        Kbx.here("tasks", "list", "--suite", "foo"),
        "no suite 'foo': it is not a folder; the suites here are kernelbench, kernelbenchx,"
            + " serving\n");
    refusedInOneLine(
        eval(file("p.jsonl", GOOD), "--suite", "kernelbnech"),
        "no suite 'kernelbnech': did you mean kernelbench or kernelbenchx?");
    Path scripts = folder.resolve("scripts");
    Files.createDirectories(scripts.resolve("tools"));
    Files.writeString(scripts.resolve("tools/run.py"), "print(1)\n");
    refusedInOneLine(
        eval(file("p.jsonl", GOOD), "--suite", scripts), scripts + ": holds no task files");
  }

  @Test
  void fileThatIsNotADatabase() throws Exception {
    Path out = Files.createDirectory(folder.resolve("out"));
    Path file = Files.writeString(out.resolve("kbx.db"), "not a database, but longer than none");
    String advice =
        "kbx: " + file + ": is damaged, or no database; name another folder, or move it";
    Kbx.Result alone = Kbx.here("runs", "list", "--out", out);
    assertThat(alone.exit()).isEqualTo(ExitCode.INCOMPLETE);
    assertThat(alone.err()).isEqualTo(advice + " away\n");
    Files.writeString(out.resolve("results.jsonl"), "");
    Kbx.Result result = eval(file("p.jsonl", GOOD));
    assertThat(result.exit()).isEqualTo(ExitCode.INCOMPLETE);
    assertThat(result.err())
        .isEqualTo(advice + " away with results.jsonl, in which what was judged still stands\n");
  }

  @Test
  void aDatabaseOfAnotherProgram() throws Exception {
    Path out = Files.createDirectory(folder.resolve("out"));
    Path file = out.resolve("kbx.db");
    try (Connection other = DriverManager.getConnection("jdbc:sqlite:" + file);
        Statement statement = other.createStatement()) {
      statement.execute("CREATE TABLE notes (text)");
    }
    Kbx.Result result = eval(file("p.jsonl", GOOD));
    assertThat(result.exit()).isEqualTo(ExitCode.INCOMPLETE);
    assertThat(result.err())
        .isEqualTo("kbx: " + file + ": is another program's database; name another folder\n");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "eval GOOD --stages static --out OUT",
        "bench cheats --out OUT",
        "runs list --out OUT",
        "runs merge OUT --out NEW",
        "runs copy OUT NEW",
        "runs copy GIVEN OUT",
        "runs merge GIVEN --out OUT",
      })
  void aFolderInPlaceOfTheDatabase(String command) throws Exception {
    Path out = folder.resolve("out");
    Path database = Files.createDirectories(out.resolve("kbx.db"));
    Path given = folder.resolve("given");
    SimulatedRun.on(SimulatedRun.H200, 1).store(given);
    Map<String, Path> paths =
        Map.of(
            "GOOD",
            file("p.jsonl", GOOD),
            "OUT",
            out,
            "GIVEN",
            given,
            "NEW",
            folder.resolve("new"));
    Object[] arguments =
        Arrays.stream(command.split(" ", -1))
            .map(word -> paths.containsKey(word) ? paths.get(word) : word)
            .toArray();
    Kbx.Result result = Kbx.here(arguments);
    assertThat(result.exit()).isEqualTo(ExitCode.INCOMPLETE);
    assertThat(result.err())
        .isEqualTo("kbx: " + database + ": is a folder; name another folder, or move it away\n");
    assertThat(out).isDirectoryNotContaining(path -> !path.equals(database));
    assertThat(folder.resolve("new")).doesNotExist();
  }

  @Test
  void unusableKbxPythonIsRefusedOnlyByCommandsThatNeedIt() throws Exception {
    Path out = folder.resolve("out");
    Map<String, String> environment = Map.of("KBX_PYTHON", folder.toString());
    Path good = file("p.jsonl", GOOD);
    refusedInOneLine(
        Kbx.run(folder, environment, "eval", good, "--out", out),
        "KBX_PYTHON names %s, which is a folder; give the path of a python".formatted(folder));
    assertThat(out).doesNotExist();
    assertThat(Kbx.run(folder, environment, arguments(good)).exit()).isZero();
  }

  @Test
  void aPageThatCannotBeWritten() throws Exception {
    Path page = file("page.md", "");
    String bind = "mount --bind $0 $0 && mount -o remount,ro,bind $0";
    Process mount = new ProcessBuilder("sh", "-c", bind, page.toString()).start();
    assumeTrue(mount.waitFor() == 0, "mounting a file needs root");
    try {
      refusedInOneLine(
          Kbx.here("bench", "cheats", "--output", page, "--out", folder.resolve("out")),
          "--output " + page + ": no permission to write it; name another");
      assertThat(folder.resolve("out")).doesNotExist();
    } finally {
      var _ = new ProcessBuilder("umount", page.toString()).start().waitFor();
    }
  }

  @Test
  void pythonOptionThatIsNotPython() throws Exception {
    refusedInOneLine(
        Kbx.run(folder, "eval", file("gelu.py", GOOD), "--python", "/bin/ls"),
        "--python: /bin/ls is no Python");
  }

  @Test
  void aBundleThatCannotBeWritten() throws Exception {
    refusedInOneLine(
        Kbx.here("package", "--output", "/proc/x"),
        "--output /proc/x: cannot create a folder there; name another");
  }

  @Test
  void absentGpus() throws Exception {
    assumeTrue(JudgingSettings.gpus().isEmpty(), "there is a GPU");
    for (String device : List.of("cuda", "cuda:0", "cuda:3")) {
      refusedInOneLine(
          Kbx.here("doctor", "--device", device),
          "--device %s: no NVIDIA GPU here (no /dev/nvidia0); use --device cpu".formatted(device));
    }
  }

  @Test
  void aRefereeOfUnknownStages() throws Exception {
    refusedInOneLine(
        Kbx.here("bench", "referee", "--stages", "foo", "--candidates", 10, "--out", folder),
        "--stages: 'foo' is not one of static,compile,call,correct,perf");
  }

  @Test
  void anEmptyCandidate() throws Exception {
    Path file = file("gelu.py", "");
    String words = "the answer holds no Python source";
    assertThat(eval(file, "--json").json().get("verdicts").get(0).get("message").asString())
        .isEqualTo(words);
    assertThat(Kbx.here("check", file).out()).contains(words);
  }

  @Test
  void profileWithoutThePerfStage() throws Exception {
    refused(eval(file("p.jsonl", GOOD), "--profile"), "--profile", "perf stage");
  }

  @Test
  void unknownRunAndTask() throws Exception {
    refused(Kbx.run(folder, "runs", "list"), "kbx-out");
    refused(Kbx.here("tasks", "show", "gelo"), "gelo", "gelu");
  }
}
